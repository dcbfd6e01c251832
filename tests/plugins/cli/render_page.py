"""Open a page in a headless Chromium (PyQt6-WebEngine), and print what it came to as JSON; run as a program."""

from __future__ import annotations

import os
import sys

os.environ |= {
    "QT_QPA_PLATFORM": "offscreen",
    "QTWEBENGINE_DISABLE_SANDBOX": "1",
    "QTWEBENGINE_CHROMIUM_FLAGS": "--disable-gpu",
}

from PyQt6.QtCore import QTimer, QUrl
from PyQt6.QtWebEngineWidgets import QWebEngineView
from PyQt6.QtWidgets import QApplication

SEEN = """JSON.stringify({
    width: document.documentElement.scrollWidth - window.innerWidth,
    pictures: [...document.images].map(picture => picture.complete && picture.naturalWidth > 0),
    headings: [...document.querySelectorAll("h2")].map(heading => heading.textContent),
    loaded: performance.getEntriesByType("resource").filter(from => !from.name.startsWith("data:")).length,
})"""


def main() -> None:
    """Load the page that is the first argument, wait until it stands, and look."""
    app = QApplication(sys.argv)
    view = QWebEngineView()
    view.resize(900, 1200)
    view.show()

    def tell(seen: str) -> None:
        sys.stdout.write(seen)
        app.quit()

    view.loadFinished.connect(lambda _: QTimer.singleShot(500, lambda: view.page().runJavaScript(SEEN, tell)))
    view.load(QUrl.fromLocalFile(sys.argv[1]))
    app.exec()


if __name__ == "__main__":
    main()
