"""Work outside the window's thread: jobs that can be watched and stopped, timers, keys, and what is listened to."""
