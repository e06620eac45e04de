-- A batch of the projector, or a reader of the views, may take long; but while a switch waits for it, everybody else waits too.
SET lock_timeout TO '60s'
