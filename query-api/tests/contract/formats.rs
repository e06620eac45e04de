//! `GET /formats`

use crate::support::World;
use crate::support::schema::assert_fits;

#[tokio::test]
async fn formats_have_a_name_and_a_description() {
    let world = World::new().await;
    let formats = world.get("/formats").await.ok().json();
    let names: Vec<&str> = formats.as_array().unwrap().iter().map(|format| format["name"].as_str().unwrap()).collect();
    assert!(names.contains(&"stash") && names.contains(&"openai_chat"), "{names:?}");
    for format in formats.as_array().unwrap() {
        assert_fits(format, "Format");
    }
}
