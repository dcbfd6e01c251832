"""The options that commands share, one declaration each; `asked` says which setting each one is."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .logs import keep_log, say_more

_INPUT, _DETECT, _LINK, OUTPUT, _MESSAGES = "Input", "Detection", "Linking", "Output", "Messages"

Axes = Annotated[
    str | None,
    typer.Option(
        metavar="LETTERS",
        rich_help_panel=_INPUT,
        help="Dimensions of the file, one letter each: T time, Z depth, C channel, Y, X. Example: TZYX. Only needed "
        "where the file does not say. Of a folder, letters in front stand for the numbers in the names of its files.",
    ),
]
Voxel = Annotated[
    str | None,
    typer.Option(
        metavar="Z,Y,X",
        rich_help_panel=_INPUT,
        help="Voxel size along z,y,x (or y,x) in µm. Example: 2,0.5,0.5. Only needed where the file does not say.",
    ),
]
TableVoxel = Annotated[
    str | None,
    typer.Option(
        metavar="Z,Y,X",
        rich_help_panel=_INPUT,
        help="Size in µm of one coordinate step along z,y,x (or y,x), for a table in voxels. Example: 2,0.5,0.5.",
    ),
]
Unit = Annotated[
    str | None,
    typer.Option(
        metavar="UNIT",
        rich_help_panel=_INPUT,
        help="Unit of all lengths, such as µm, nm or mm. 'pixel' measures everything in pixels.",
    ),
]
FrameInterval = Annotated[
    float | None,
    typer.Option(metavar="TIME", rich_help_panel=_INPUT, help="Time between two frames, in seconds."),
]
TimeUnit = Annotated[
    str | None,
    typer.Option(
        metavar="UNIT",
        rich_help_panel=_INPUT,
        help="Unit of time, such as min; --frame-interval is given in it.",
    ),
]
FrameStep = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        rich_help_panel=_INPUT,
        help="Step between the frame numbers of a table: 5 where it holds frames 0, 5, 10, …. Left out: what stands "
        "beside the table, else 1; nothing is linked over missing frames. A movie knows its frames.",
    ),
]
Channel = Annotated[
    str | None,
    typer.Option(
        metavar="NAME|NUMBER",
        rich_help_panel=_INPUT,
        help="Channel to read, by name or number (from 0), where there are several. Of a colour image: red, "
        "green, blue, or grey, their mean.",
    ),
]
Frames = Annotated[
    str | None,
    typer.Option(
        metavar="FROM:TO[:STEP]",
        rich_help_panel=_INPUT,
        help="Frames to use, counted from 0; TO itself is not one of them. Example: 0:20, or ::5 for every fifth.",
    ),
]
Roi = Annotated[
    str | None,
    typer.Option(
        metavar="RANGES",
        rich_help_panel=_INPUT,
        help="Region to use, in voxels: one from:to an axis, in the order z,y,x. Example: 0:10,100:300,: (all of x).",
    ),
]
Labels = Annotated[
    bool,
    typer.Option(
        "--labels",
        metavar="",
        rich_help_panel=_INPUT,
        help="The image holds labels (Cellpose, StarDist, CTC masks): each label is one particle; nothing is detected.",
    ),
]
Intensity = Annotated[
    str | None,
    typer.Option(
        metavar="MOVIE",
        rich_help_panel=_INPUT,
        help="With --labels: the movie whose intensity is measured under each label.",
    ),
]
Columns = Annotated[
    str | None,
    typer.Option(
        metavar="OURS=THEIRS,…",
        rich_help_panel=_INPUT,
        help="Columns of a table that have other names. Example: frame=Time,z=Pos_Z,y=Pos_Y,x=Pos_X. Those of "
        "trackpy, laptrack, TrackMate, Imaris and napari are known.",
    ),
]
Diameter = Annotated[
    str | None,
    typer.Option(
        metavar="LENGTH",
        rich_help_panel=_DETECT,
        help="Diameter of a particle in µm. Left out: suggested from the movie (auctrack info says why).",
    ),
]
Threshold = Annotated[
    str | None,
    typer.Option(
        metavar="QUALITY",
        rich_help_panel=_DETECT,
        help="Lowest quality of a particle; quality is about its contrast in grey levels. Left out: found from the "
        "movie.",
    ),
]
Separation = Annotated[
    float | None,
    typer.Option(
        metavar="LENGTH",
        rich_help_panel=_DETECT,
        help="Of two particles nearer than this, in µm, only the better counts. Left out: half the diameter.",
    ),
]
Method = Annotated[
    str | None,
    typer.Option(
        metavar="log|dog",
        rich_help_panel=_DETECT,
        help="Laplacian of Gaussian (the default), or difference of Gaussians as in other programs; equally fast.",
    ),
]
Dark = Annotated[
    bool, typer.Option("--dark", metavar="", rich_help_panel=_DETECT, help="Particles are dark on a bright background.")
]
SearchRange = Annotated[
    str | None,
    typer.Option(
        metavar="LENGTH",
        rich_help_panel=_LINK,
        help="Longest step a particle can take between two frames, in µm (TrackMate: linking max distance). Left out: "
        "as far as the learned steps reach; with --motion none 1.3 times the mean distance between neighbours.",
    ),
]
UnmatchedCost = Annotated[
    str | None,
    typer.Option(
        metavar="LENGTH",
        rich_help_panel=_LINK,
        help="What leaving a particle unlinked costs, in µm: no link gets longer than twice this. Left out: "
        "learned, or with --motion none measured, from the particles' own steps, which suits most movies.",
    ),
]
Cost = Annotated[
    str | None,
    typer.Option(
        metavar="squared|distance",
        rich_help_panel=_LINK,
        help="Cost of a link with --motion none: its squared length (the default; as trackpy and TrackMate), or its "
        "length. Learned motion has its own, the likelihood.",
    ),
]
Motion = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        rich_help_panel=_LINK,
        help="What predicts a step, learned from the movie: diffusion (how far particles go), velocity (also each one's"
        " own steps before and after), flow (also its neighbours' steps), flow+velocity; auto (the default) takes what "
        "helps. none links each pair of frames by distance alone.",
    ),
]
Features = Annotated[
    str | None,
    typer.Option(
        metavar="NAME,…",
        rich_help_panel=_LINK,
        help="Columns of the detections, above 0, that weigh links by how they change along them, such as "
        "intensity,snr: learned, and used where they tell which links are right. auto: those that are there. "
        "[default: none]",
        show_default=False,
    ),
]
MaxMissedFrames = Annotated[
    str | None,
    typer.Option(
        metavar="N",
        rich_help_panel=_LINK,
        help="Frames a particle may be missing inside a track (trackpy: memory). auto (the default): as many as the "
        "movie makes worth while.",
    ),
]
Divisions = Annotated[
    bool, typer.Option("--divisions", metavar="", rich_help_panel=_LINK, help="A particle may be followed by two.")
]
Merges = Annotated[
    bool, typer.Option("--merges", metavar="", rich_help_panel=_LINK, help="Two particles may be followed by one.")
]
Linking = Annotated[
    str | None,
    typer.Option(
        metavar="auctrack|jaqaman",
        rich_help_panel=_LINK,
        help="jaqaman gives the tracks of TrackMate's LAP tracker: frame by frame, then gaps, divisions and merges at "
        "its costs, without learned motion. Its max frame gap is --max-missed-frames + 1.",
    ),
]
GapClosingRange = Annotated[
    str | None,
    typer.Option(
        metavar="LENGTH",
        rich_help_panel=_LINK,
        help="With --linking jaqaman: longest link across a gap, in µm. Left out: the search range.",
    ),
]
DivisionRange = Annotated[
    str | None,
    typer.Option(
        metavar="LENGTH",
        rich_help_panel=_LINK,
        help="With --linking jaqaman: longest link to a second daughter (TrackMate: splitting). Left out: the search "
        "range.",
    ),
]
MergeRange = Annotated[
    str | None,
    typer.Option(
        metavar="LENGTH",
        rich_help_panel=_LINK,
        help="With --linking jaqaman: longest link from a second parent (TrackMate: merging). Left out: the search "
        "range.",
    ),
]
Pinned = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        rich_help_panel=_LINK,
        help="CSV of links that are made whatever they cost: columns source, target (rows of the points, counted from "
        "0), or source_frame, source_z, source_y, source_x, target_frame, … (places, in voxels).",
    ),
]
Forbidden = Annotated[
    Path | None,
    typer.Option(metavar="FILE", rich_help_panel=_LINK, help="CSV of links that are never made, as for --pinned."),
]
Solver = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        rich_help_panel=_LINK,
        help="Assignment solver, such as auction, jv or sparse-jv; auto (the default) picks one. All give links of "
        "the same, optimal cost.",
    ),
]
Device = Annotated[
    str | None,
    typer.Option(
        metavar="auto|cpu|cuda[:N]",
        rich_help_panel=_LINK,
        help="Where frames are filtered and the assignment is solved: cuda uses a GPU. auto (the default) uses one"
        " where there is one and the movie (2^27 voxels) or the problem (200,000 candidate links at a time) is large.",
    ),
]
MinLength = Annotated[
    int | None,
    typer.Option(metavar="N", rich_help_panel=OUTPUT, help="Keep only tracks of at least N detections."),
]
Config = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        rich_help_panel="Settings",
        help="Settings from a TOML file, or from the NAME.settings.json beside an earlier result, which repeats it "
        "exactly. Options given here win over those in the file.",
    ),
]
Format = Annotated[
    str | None,
    typer.Option(
        "--format",
        metavar="NAME",
        rich_help_panel=OUTPUT,
        help="Format of the result, such as csv, parquet, napari or trackmate (auctrack convert --help lists all). "
        "Left out: by the name of the file, CSV in a folder.",
    ),
]
Overwrite = Annotated[
    bool, typer.Option("--overwrite", metavar="", rich_help_panel=OUTPUT, help="Replace results that exist.")
]
Json = Annotated[
    bool, typer.Option("--json", metavar="", rich_help_panel=OUTPUT, help="Print JSON, for programs to read.")
]
Verbose = Annotated[
    bool,
    typer.Option(
        "--verbose",
        metavar="",
        rich_help_panel=_MESSAGES,
        callback=say_more,
        is_eager=True,
        help="Also say, on standard error, what is being done and with which settings.",
    ),
]
Log = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        rich_help_panel=_MESSAGES,
        callback=keep_log,
        is_eager=True,
        help="Append all messages to FILE, with times, every detail, and where in the program an error arose.",
    ),
]
