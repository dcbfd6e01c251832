"""Functions of the user's own: where particles are expected, and what links cost beside all else."""

import numpy as np
import pytest

from auctrack.tracker.errors import InvalidSetting
from auctrack.tracker.linking.link import link, link_points
from auctrack.tracker.linking.settings import LinkSettings
from auctrack.tracker.points import Points
from auctrack.tracker.settings import Settings

from .movies import forty_divide, table, walks

MOTIONS = ["none", "auto"]
TURN = np.array([[np.cos(0.4), -np.sin(0.4)], [np.sin(0.4), np.cos(0.4)]])


def turning(missed: float = 0.0) -> tuple[Points, np.ndarray]:
    """A disc that turns by 0.4 a frame: at its rim four times the distance between particles; and who is who."""
    rng = np.random.default_rng(0)
    lattice = np.stack(np.meshgrid(*[np.arange(-9.5, 10.0)] * 2), axis=-1).reshape(-1, 2)
    here, parts, names = lattice + rng.uniform(-0.3, 0.3, lattice.shape), [], []
    for _ in range(6):
        seen = np.flatnonzero(rng.random(400) >= missed)
        parts.append((here + rng.normal(0, 0.02, here.shape))[seen])
        names.append(seen)
        here = here @ TURN.T
    return table(np.repeat(np.arange(6), [len(part) for part in parts]), np.vstack(parts)), np.concatenate(names)


def turned(points: Points, rows: np.ndarray, frames: np.ndarray) -> np.ndarray:
    at = points.positions[rows]
    for _ in range(int((frames - points.frames[rows]).max())):
        assert len(set(frames - points.frames[rows])) == 1
        at = at @ TURN.T
    return at


def ends(linking) -> set[tuple[int, int]]:
    return set(zip(linking.links["source"].tolist(), linking.links["target"].tolist(), strict=True))


def squared_length(points, source, target):
    return ((points.positions[target] - points.positions[source]) ** 2).sum(axis=1)


class TestWhereParticlesAreExpected:
    @pytest.mark.parametrize("motion", MOTIONS)
    def test_links_lead_to_where_they_are_expected(self, motion):
        points, names = turning()
        plain, predicted = (link_points(points, LinkSettings(motion=motion, predict=of)) for of in (None, turned))
        right = names[predicted.links["source"]] == names[predicted.links["target"]]
        assert (right.sum(), len(right)) == (2000, 2000)
        assert predicted.report["is_optimal"]
        assert (names[plain.links["source"]] == names[plain.links["target"]]).mean() < 0.5

    def test_they_are_expected_after_a_gap_too(self):
        points, names = turning(missed=0.1)
        linking = link_points(points, LinkSettings(predict=turned, max_missed_frames=1))
        gaps = linking.links[linking.links["kind"] == "gap"]
        assert len(gaps) > 100
        assert (names[gaps["source"]] == names[gaps["target"]]).all()
        assert any("predict" in line for line in linking.report["learned"])

    @pytest.mark.parametrize("motion", MOTIONS)
    def test_the_search_range_is_counted_from_there_and_the_length_from_the_particle(self, motion):
        points, _ = turning()
        links = link_points(points, LinkSettings(0.2, motion=motion, predict=turned)).links
        positions = points.positions
        real = np.linalg.norm(positions[links["target"]] - positions[links["source"]], axis=1)
        np.testing.assert_allclose(links["length"], real)
        assert real.max() > 4
        assert len(links) == 2000

    def test_trackpys_habit_positions_as_they_are(self):
        points, _ = walks(300)
        still = LinkSettings(motion="none", predict=lambda points, rows, _: points.positions[rows])
        assert ends(link_points(points, still)) == ends(link_points(points, LinkSettings(motion="none")))

    @pytest.mark.filterwarnings("ignore:the fewest frames")
    def test_in_windows_too(self):
        points, _ = turning()
        whole, windows = (
            link_points(points, LinkSettings(predict=turned, max_missed_frames=0, memory_budget_gb=budget))
            for budget in (4, 8e-4)
        )
        assert windows.report["windows"] > 1
        assert ends(whole) == ends(windows)


class TestAFurtherCost:
    def test_it_is_added_to_the_squared_length(self):
        """Twice the squared length, and an unmatched cost for twice the square: links are those of the plain one."""
        points, _ = walks(400)
        plain = LinkSettings(2.0, 0.7, motion="none")
        doubled = LinkSettings(2.0, 0.7 * np.sqrt(2), motion="none", extra_cost=squared_length)
        assert ends(link_points(points, doubled)) == ends(link_points(points, plain))

    @pytest.mark.parametrize("motion", MOTIONS)
    def test_colours_tell_apart_what_positions_do_not(self, motion):
        rng = np.random.default_rng(1)
        places, colour = rng.uniform(0, 10, (200, 2)), rng.integers(0, 2, 200)
        frames = [places + rng.normal(0, 0.12, places.shape) for _ in range(5)]
        points = table(np.repeat(np.arange(5), 200), np.vstack(frames))
        points = Points(points.table.assign(colour=np.tile(colour, 5)))
        names = np.tile(np.arange(200), 5)

        def unlike(points, source, target):
            colours = points.table["colour"].to_numpy()
            return np.where(colours[source] == colours[target], 0.0, np.inf)

        def wrong(linking):
            return (names[linking.links["source"]] != names[linking.links["target"]]).mean()

        plain, told = (link_points(points, LinkSettings(motion=motion, extra_cost=of)) for of in (None, unlike))
        colours = points.table["colour"].to_numpy()
        assert (colours[told.links["source"]] == colours[told.links["target"]]).all()
        assert wrong(told) < 0.8 * wrong(plain)
        assert told.report["is_optimal"]
        assert len(told.links) > 0.8 * len(plain.links)

    def test_in_nats_it_moves_margins_by_as_much(self):
        """What all links cost more, every margin against leaving both ends unlinked loses."""
        points = table([0, 1], [[0.0, 0.0], [0.1, 0.0]])
        plain, dearer = (
            link_points(points, LinkSettings(max_missed_frames=0, extra_cost=of)).links["margin"].item()
            for of in (None, lambda _, source, __: np.full(len(source), 0.25))
        )
        assert plain - dearer == pytest.approx(0.25, abs=0.05)

    def test_below_0_it_makes_links_that_their_length_would_not(self):
        points = table([0, 1], [[0.0, 0.0], [3.0, 0.0]])
        settings = LinkSettings(5.0, 1.0, motion="none")
        dear = LinkSettings(5.0, 1.0, motion="none", extra_cost=lambda _, source, __: np.full(len(source), -8.0))
        assert not ends(link_points(points, settings))
        assert ends(link_points(points, dear)) == {(0, 1)}

    @pytest.mark.parametrize("motion", MOTIONS)
    def test_given_links_hold_whatever_it_says(self, motion):
        points, _ = walks(200)
        free = sorted(ends(link_points(points, LinkSettings(motion=motion))))
        pinned, never = free[0], free[50]

        def no_link_of_the_pinned(_, source, __):
            return np.where(source == pinned[0], np.inf, 0.0)

        settings = LinkSettings(motion=motion, pinned=[pinned], forbidden=[never], extra_cost=no_link_of_the_pinned)
        made = ends(link_points(points, settings))
        assert pinned in made
        assert never not in made

    def test_it_counts_for_second_daughters_too(self):
        points = forty_divide()
        mother = np.arange(480, 500)

        def barren(_, source, target):
            return np.where(np.isin(source, mother) & np.isin(target, np.arange(680, 760)), np.inf, 0.0)

        links = link_points(points, LinkSettings(divisions=True, extra_cost=barren)).links
        dividing = set(links.loc[links["kind"] == "division", "source"])
        assert not dividing & set(mother)
        assert len(dividing) > 15

    @pytest.mark.parametrize("motion", MOTIONS)
    def test_link_takes_it_with_rows_of_the_table(self, motion):
        points, _ = walks(100)
        brightness = np.random.default_rng(0).uniform(1, 2, len(points))
        asked = []

        def remembered(_, source, target):
            asked.append((source, target))
            return np.log(brightness[target] / brightness[source]) ** 2

        tracks = link(points.table, motion=motion, extra_cost=remembered)
        frames = tracks["frame"].to_numpy()
        assert all((frames[source] < frames[target]).all() for source, target in asked)
        assert sum(len(source) for source, _ in asked) > 0


class TestRefused:
    @pytest.mark.parametrize("motion", MOTIONS)
    @pytest.mark.parametrize(
        "returned",
        [
            lambda rows, _: np.zeros((len(rows), 2)),
            lambda rows, _: np.full((len(rows), 3), np.nan),
            lambda _, __: None,
            lambda _, __: "far away",
            lambda rows, _: np.zeros((len(rows), 3)) + 1j,
        ],
        ids=["shape", "NaN", "nothing", "text", "complex"],
    )
    def test_positions_that_are_none(self, returned, motion):
        points, _ = walks(50)
        settings = LinkSettings(motion=motion, predict=lambda _, rows, frames: returned(rows, frames))
        with pytest.raises(InvalidSetting, match="predict"):
            link_points(points, settings)

    @pytest.mark.parametrize("motion", MOTIONS)
    @pytest.mark.parametrize(
        "returned",
        [
            lambda source: np.zeros(len(source) + 1),
            lambda source: np.full(len(source), np.nan),
            lambda source: np.full(len(source), -np.inf),
            lambda source: ["dear"] * len(source),
            lambda source: np.zeros(len(source)) + 1j,
        ],
        ids=["shape", "NaN", "-inf", "text", "complex"],
    )
    def test_costs_that_are_none(self, returned, motion):
        points, _ = walks(50)
        settings = LinkSettings(motion=motion, extra_cost=lambda _, source, __: returned(source))
        with pytest.raises(InvalidSetting, match="extra_cost"):
            link_points(points, settings)

    @pytest.mark.parametrize(
        ("hooks", "said"),
        [
            ({"extra_cost": lambda _, source, __: np.full(len(source), -np.inf)}, ", -inf among it"),
            ({"predict": lambda points, rows, _: np.full((len(rows), points.ndim), np.inf)}, ", inf among it"),
        ],
        ids=["extra_cost", "predict"],
    )
    def test_values_that_are_no_numbers_are_named(self, hooks, said):
        with pytest.raises(InvalidSetting, match=said):
            link_points(walks(50)[0], LinkSettings(**hooks))

    @pytest.mark.parametrize("name", ["predict", "extra_cost"])
    @pytest.mark.parametrize("given", [3.0, "mass"])
    def test_what_is_no_function(self, name, given):
        with pytest.raises(InvalidSetting, match=f"{name} needs a function.*{given}"):
            LinkSettings(**{name: given})

    @pytest.mark.parametrize("name", ["predict", "extra_cost"])
    def test_beside_corrections_and_jaqaman(self, name):
        with pytest.raises(InvalidSetting, match=name):
            link_points(walks(50)[0], LinkSettings(**{name: turned}), editable=True)
        with pytest.raises(InvalidSetting, match=name):
            LinkSettings(linking="jaqaman", **{name: turned})

    def test_more_links_that_pay_than_are_written_out(self):
        settings = LinkSettings(5.0, motion="none", extra_cost=squared_length, memory_budget_gb=1e-9)
        with pytest.raises(InvalidSetting, match="search_range"):
            link_points(walks(100)[0], settings)


def test_a_record_names_them_and_cannot_bring_them_back():
    settings = Settings(link=LinkSettings(predict=turned, extra_cost=squared_length))
    stored = settings.to_mapping()
    assert stored["link"]["predict"].endswith("test_hooks.turned")
    assert stored["link"]["extra_cost"].endswith("test_hooks.squared_length")
    with pytest.raises(InvalidSetting, match=r"predict.* no file"):
        Settings.from_mapping(stored)
