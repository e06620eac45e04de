FETCH 200 FROM annotations
