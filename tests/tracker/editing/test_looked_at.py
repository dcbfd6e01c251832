"""How many wrong links are expected to be left among those that nobody has judged."""

import numpy as np
import pandas as pd
import pytest

from auctrack.tracker.editing.looked_at import expected_wrong

LINKS = pd.DataFrame({"source": [0, 1, 2], "target": [3, 4, 5], "probability": [0.5, 0.75, 1.0]})


@pytest.mark.parametrize(
    ("judged", "wrong"),
    [(set(), 0.75), ({(0, 3)}, 0.25), ({(0, 3), (1, 4)}, 0.0), ({(3, 0)}, 0.75), ({(0, 4), (9, 9)}, 0.75)],
)
def test_links_that_were_judged_are_expected_to_be_right(judged, wrong):
    assert expected_wrong(LINKS, judged) == wrong


def test_it_is_not_known_without_probabilities():
    assert expected_wrong(LINKS.assign(probability=np.nan), {(0, 3)}) is None
