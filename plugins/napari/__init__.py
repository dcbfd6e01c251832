"""The napari plugin: readers, writers, sample data and one widget. Only what napari calls imports napari or Qt."""
