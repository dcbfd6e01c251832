"""What each setting is, in words: once, for the command line's help, the forms of napari and README's table.

They name settings and their values, never an option or a field of a form. The docstrings of `InputSettings`,
`DetectSettings` and `LinkSettings` say it at length.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class SettingWords(NamedTuple):
    """What a setting is.

    Attributes
    ----------
    what : str
        One phrase, without a full stop.
    auto : str
        What is taken where it is not given; "" where that goes without saying.
    more : str
        Sentences: what it goes with.
    written : str
        Sentences on how it is written where it is a text: examples.
    is_length : bool
        Whether it is given in the unit of lengths.
    field : str
        What its field in a window is called; "" where that is the setting's name in words.
    """

    what: str
    auto: str = ""
    more: str = ""
    written: str = ""
    is_length: bool = False
    field: str = ""


_OF_INPUT: dict[str, SettingWords] = {
    "kind": SettingWords(
        "What the input is: auto (a table by its ending, else a movie), movie, labels (an image in which each label is "
        "a particle), or table"
    ),
    "axes": SettingWords(
        "Dimensions of the file, one letter each: T time, Z depth, C channel, Y, X",
        more="Needed only if the file does not say.",
        written="Example: TZYX. For a folder, the first letters stand for the numbers in its file names.",
    ),
    "scale": SettingWords(
        "Voxel size along z,y,x (or y,x)",
        more="Needed only if the file does not say.",
        written="Example: 2,0.5,0.5.",
        is_length=True,
        field="voxel z, y, x",
    ),
    "unit": SettingWords("Unit of all lengths, such as µm, nm or mm", more="'pixel' measures everything in pixels."),
    "frame_interval": SettingWords(
        "Time between two frames whose numbers differ by one, in seconds",
        more="With frames 0, 5, 10, … it is a fifth of the time from one to the next.",
    ),
    "time_unit": SettingWords("Unit of time, such as min; the frame interval is given in it"),
    "frame_step": SettingWords(
        "Step between consecutive frame numbers of a table: 5 if it holds frames 0, 5, 10, …",
        auto="what the settings beside the table say, else 1",
        more="Not for movies.",
    ),
    "channel": SettingWords(
        "Channel to read, by name or number (from 0), where there are several",
        more="For a colour image: red, green, blue, or grey (their mean).",
    ),
    "series": SettingWords(
        "Which of several images in a file, such as the positions of a stage, by name or number (from 0)",
        written="With track, all takes each of them in turn.",
    ),
    "frames": SettingWords(
        "Frames to use, counted from 0",
        written="TO is excluded. Example: 0:20, or ::5 for every fifth.",
    ),
    "roi": SettingWords(
        "Region to use, in voxels",
        written="One from:to per axis, in the order z,y,x. Example: 0:10,100:300,: (all of x).",
        field="region",
    ),
    "intensity": SettingWords("For a label image: the movie in which the intensity under each label is measured"),
    "intensity_channel": SettingWords(
        "Channel of that movie, such as a reporter's, by name or number (from 0)", auto="that of the labels"
    ),
    "columns": SettingWords(
        "Columns of a table that have other names",
        written="Example: frame=Time,z=Pos_Z,y=Pos_Y,x=Pos_X; of tracks also track_id and parent_track_id. Those of "
        "trackpy, laptrack, TrackMate, Imaris, napari and ThunderSTORM are known.",
    ),
}
_OF_DETECTING: dict[str, SettingWords] = {
    "diameter": SettingWords(
        "Diameter of a particle",
        auto="suggested from the movie",
        more="For a Gaussian spot: 1.2 times its full width at half maximum.",
        is_length=True,
    ),
    "threshold": SettingWords(
        "Lowest quality of a particle (roughly its contrast, in grey levels)", auto="found from the movie"
    ),
    "separation": SettingWords(
        "Of two particles closer than this, only the better one is kept",
        auto="half the diameter",
        is_length=True,
    ),
    "method": SettingWords(
        "Filter that brings out particles: log (Laplacian of Gaussian) or dog (difference of Gaussians, as in other "
        "programs)",
        auto="log",
        more="Both are equally fast.",
        field="filter",
    ),
    "bright_on_dark": SettingWords(
        "Whether particles are bright on a dark background, or dark on a bright one",
        field="dark on a bright background",
    ),
}
_OF_LINKING: dict[str, SettingWords] = {
    "motion": SettingWords(
        "How steps are predicted, learned from the movie: diffusion (how far particles move), velocity (also from each "
        "particle's steps before and after), flow (also from its neighbours' steps), flow+velocity",
        auto="auto, which uses what helps",
        more="none links each pair of frames by distance alone.",
    ),
    "features": SettingWords(
        "Columns of the detections, with values above 0, whose change along a link shows how likely it is, such as "
        "intensity,snr: learned, and used where it helps",
        auto="auto, which takes the usual ones that are present",
        more="none links by positions alone.",
    ),
    "max_missed_frames": SettingWords(
        "Frames a particle may be missing inside a track (trackpy: memory)",
        auto="as many as the movie makes worthwhile",
        field="missed frames",
    ),
    "divisions": SettingWords("A particle may be followed by two", more="Not with motion none."),
    "merges": SettingWords("Two particles may be followed by one", more="Not with motion none."),
    "search_range": SettingWords(
        "Longest step a particle can take between two frames (TrackMate: linking max distance)",
        auto="as far as the learned steps reach; without learned motion 1.3 times the mean distance between neighbours",
        is_length=True,
    ),
    "unmatched_cost": SettingWords(
        "Cost of leaving a particle unlinked, as a length: no link is longer than twice this",
        auto="learned from the particles' own steps; without learned motion measured from them",
        is_length=True,
    ),
    "cost": SettingWords(
        "Cost of a link with motion none: its squared length, or its length",
        auto="squared, as in trackpy and TrackMate",
        more="Learned motion uses its own cost, the likelihood.",
        field="cost of a link",
    ),
    "pinned": SettingWords(
        "CSV of links that are always made: columns source, target (rows of the points, counted from 0), or "
        "source_frame, source_z, source_y, source_x, target_frame, … (places, in voxels)"
    ),
    "forbidden": SettingWords("CSV of links that are never made; columns as for pinned ones"),
    "linking": SettingWords(
        "How the movie is linked: auctrack (all links at once, by likelihood) or jaqaman (like TrackMate's LAP "
        "tracker: frame by frame, then segments are joined across gaps, at divisions and at merges)",
        auto="auctrack",
        more="jaqaman learns no motion; TrackMate's max frame gap is one more than the missed frames.",
    ),
    "gap_closing_range": SettingWords(
        "With linking jaqaman, the longest link across a gap",
        auto="the search range",
        is_length=True,
        field="gap range",
    ),
    "division_range": SettingWords(
        "With linking jaqaman, the longest link to a second daughter (TrackMate: splitting)",
        auto="the search range",
        is_length=True,
    ),
    "merge_range": SettingWords(
        "With linking jaqaman, the longest link from a second parent (TrackMate: merging)",
        auto="the search range",
        is_length=True,
    ),
    **{
        f"{kind}_penalties": SettingWords(
            f"With linking jaqaman, weights of feature penalties of {what}, by columns of the detections{example}",
            auto="none",
            field=f"{kind.removesuffix('_closing')} penalties",
        )
        for kind, what, example in (
            (
                "link",
                "steps",
                ", such as intensity=1: one that is twice as bright looks twice as far away",
            ),
            ("gap_closing", "gaps", ""),
            ("division", "divisions (TrackMate: splitting)", ""),
            ("merge", "merges", ""),
        )
    },
    "solver": SettingWords(
        "Assignment solver, such as auction or jv",
        auto="the fastest for the problem",
        more="All find links of the same, optimal cost. jv runs on a CPU only.",
    ),
    "device": SettingWords(
        "Where frames are filtered and the assignment is solved: cpu, or cuda, a GPU",
        auto="a GPU where there is one and the movie (2^27 voxels) or the problem (200,000 candidate links at a time) "
        "is large",
    ),
    "memory_budget_gb": SettingWords(
        "Memory that filtering and linking may use, in GB, besides the frame or table itself",
        auto="4",
        more="Larger work is done in parts; only links where a long movie is cut can depend on this.",
        written="Example: 16, 16GB or 500MB.",
        field="memory budget",
    ),
}
SECTIONS: Mapping[str, Mapping[str, SettingWords]] = {
    "InputSettings": _OF_INPUT,
    "DetectSettings": _OF_DETECTING,
    "LinkSettings": _OF_LINKING,
}
"""By the class of the setting, then its name."""
WORDS: Mapping[str, SettingWords] = {
    **_OF_INPUT,
    **_OF_DETECTING,
    **_OF_LINKING,
    "min_length": SettingWords("Keep only tracks of at least this many detections"),
}
"""By the setting's name."""
