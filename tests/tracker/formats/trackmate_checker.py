"""The conditions under which TrackMate's own reader (TmXmlReader) takes a file: what it gives up at, or warns of."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

DIMENSIONS = frozenset({
    "NONE", "QUALITY", "COST", "INTENSITY", "INTENSITY_SQUARED", "POSITION", "VELOCITY", "LENGTH", "AREA", "VOLUME",
    "TIME", "ANGLE", "RATE", "ANGLE_RATE", "STRING",
})  # fmt: skip
DETECTORS = {
    "LOG_DETECTOR": ("TARGET_CHANNEL", "RADIUS", "THRESHOLD", "DO_MEDIAN_FILTERING", "DO_SUBPIXEL_LOCALIZATION"),
    "MANUAL_DETECTOR": ("RADIUS",),
}
TRACKERS = ("SPARSE_LAP_TRACKER", "SIMPLE_SPARSE_LAP_TRACKER", "MANUAL_TRACKER")
INT = range(-(2**31), 2**31)


def complaints(path: Path) -> list[str]:
    """Return what TrackMate would not take; empty for a file that opens without a word."""
    root = ElementTree.parse(path).getroot()
    found = [] if root.tag == "TrackMate" and root.get("version") else ["root element or version"]
    model, settings = root.find("Model"), root.find("Settings")
    if model is None or settings is None:
        return [*found, "Model or Settings"]
    return [*found, *_model(model), *_settings(settings), *_views(root)]


def _model(model: ElementTree.Element) -> list[str]:
    found = [f"no {name}" for name in ("spatialunits", "timeunits") if not model.get(name)]
    declared = {kind: _declared(model, kind, found) for kind in ("Spot", "Edge", "Track")}
    spots, tracks, shown = model.find("AllSpots"), model.find("AllTracks"), model.find("FilteredTracks")
    if spots is None or tracks is None or shown is None:
        return [*found, "AllSpots, AllTracks or FilteredTracks"]
    ids = _spots(spots, declared["Spot"], found)
    numbers = [_whole(track, "TRACK_ID", found) for track in tracks.findall("Track")]
    found += ["two tracks of one id"] if len(set(numbers)) < len(numbers) else []
    _edges(tracks, ids, declared, found)
    hidden = {_whole(track, "TRACK_ID", found) for track in shown.findall("TrackID")} - set(numbers)
    return [*found, *(f"filtered track {number} does not exist" for number in hidden)]


def _declared(model: ElementTree.Element, kind: str, found: list[str]) -> dict[str, bool]:
    features = model.find(f"FeatureDeclarations/{kind}Features")
    if features is None:
        found.append(f"no declarations of {kind} features")
        return {}
    declared: dict[str, bool] = {}
    for feature in features.findall("Feature"):
        if any(feature.get(name) is None for name in ("feature", "name", "shortname")):
            found.append("feature without a name")
        if feature.get("dimension") not in DIMENSIONS:
            found.append(f"dimension {feature.get('dimension')}")
        if feature.get("isint") not in ("true", "false"):
            found.append("isint")
        if feature.get("feature") in declared:
            found.append(f"{feature.get('feature')} is declared twice")
        declared[str(feature.get("feature"))] = feature.get("isint") == "true"
    return declared


def _spots(spots: ElementTree.Element, declared: dict[str, bool], found: list[str]) -> set[int]:
    ids: list[int] = []
    for frame in spots.findall("SpotsInFrame"):
        number = _whole(frame, "frame", found)
        for spot in frame.findall("Spot"):
            ids.append(_whole(spot, "ID", found))
            for name, value in spot.attrib.items():
                if name not in ("ID", "name"):
                    _java_double(value, found)
                    found += [] if name in declared else [f"spot feature {name} is not declared"]
            needed = {
                "POSITION_X",
                "POSITION_Y",
                "POSITION_Z",
                "POSITION_T",
                "FRAME",
                "RADIUS",
                "QUALITY",
                "VISIBILITY",
            }
            found += [f"spot without {name}" for name in needed - set(spot.attrib)]
            found += [] if spot.get("FRAME") == str(number) else ["spot in another frame than its own"]
            corners = int(float(spot.get("ROI_N_POINTS", "0")))
            outline = (spot.text or "").split()
            found += ["outline without its corners"] if corners > 2 and len(outline) < 2 * corners else []
            for value in outline:
                _java_double(value, found)
    found += ["two spots of one id"] if len(set(ids)) < len(ids) else []
    found += [] if spots.get("nspots") == str(len(ids)) else ["nspots"]
    return set(ids)


def _edges(tracks: ElementTree.Element, ids: set[int], declared: dict[str, dict[str, bool]], found: list[str]) -> None:
    pairs: set[frozenset[int]] = set()
    for track in tracks.findall("Track"):
        for name, value in track.attrib.items():
            if name != "name":
                _java_double(value, found)
                found += [] if name in declared["Track"] else [f"track feature {name} is not declared"]
        found += [] if track.findall("Edge") else ["track without edges"]
        for edge in track.findall("Edge"):
            ends = frozenset(_whole(edge, f"SPOT_{end}_ID", found) for end in ("SOURCE", "TARGET"))
            found += [] if ends <= ids else ["edge of an unknown spot"]
            found += ["edge from a spot to itself"] if len(ends) == 1 else []
            found += ["double edge"] if ends in pairs else []
            pairs.add(ends)
            for name, value in edge.attrib.items():
                if declared["Edge"].get(name):
                    _whole(edge, name, found)
                else:
                    _java_double(value, found)
                found += [] if name in declared["Edge"] else [f"edge feature {name} is not declared"]


def _settings(settings: ElementTree.Element) -> list[str]:
    found: list[str] = []
    image = settings.find("ImageData")
    if image is None:
        return ["no ImageData"]
    found += [] if image.get("filename") and image.get("folder") is not None else ["no image file"]
    for name in ("width", "height", "nslices", "nframes"):
        found += [] if _whole(image, name, found) > 0 else [f"image without {name}"]
    for name in ("pixelwidth", "pixelheight", "voxeldepth", "timeinterval"):
        _java_double(image.get(name, ""), found)
    crop = settings.find("BasicSettings")
    for name in ("x", "y", "z", "t") if crop is not None else ():
        _whole(crop, f"{name}start", found), _whole(crop, f"{name}end", found)
    detector, tracker = settings.find("DetectorSettings"), settings.find("TrackerSettings")
    name = "" if detector is None else detector.get("DETECTOR_NAME", "")
    found += [f"detector {name}"] if name not in DETECTORS else [
        f"detector without {key}" for key in DETECTORS[name] if detector.get(key) is None
    ]  # fmt: skip
    found += [] if tracker is not None and tracker.get("TRACKER_NAME") in TRACKERS else ["tracker"]
    first = settings.find("InitialSpotFilter")
    found += ["InitialSpotFilter"] if first is None else []
    for filtered in settings.iterfind(".//Filter") if first is None else (first, *settings.iterfind(".//Filter")):
        found += [] if filtered.get("feature") and filtered.get("isabove") in ("true", "false") else ["filter"]
        _java_double(filtered.get("value", ""), found)
    found += [f"no {name}" for name in ("SpotFilterCollection", "TrackFilterCollection") if settings.find(name) is None]
    analyzers = [f"AnalyzerCollection/{kind}Analyzers" for kind in ("Spot", "Edge", "Track")]
    found += [f"analyzer {each.attrib}" for each in settings.iterfind("AnalyzerCollection/*/Analyzer")]
    return [*found, *(f"no {name}" for name in analyzers if settings.find(name) is None)]


def _views(root: ElementTree.Element) -> list[str]:
    state, display = root.find("GUIState"), root.find("DisplaySettings")
    found = [] if state is not None and state.get("state") else ["GUIState"]
    found += [
        f"view {view.attrib}" for view in root.iterfind("GUIState/View") if view.get("key") != "HYPERSTACKDISPLAYER"
    ]
    return [
        *found,
        *([] if display is not None and "font" in json.loads(display.text or "{}") else ["DisplaySettings"]),
    ]


def _whole(element: ElementTree.Element, name: str, found: list[str]) -> int:
    try:
        number = int(element.get(name, ""))
    except ValueError:
        found.append(f"{element.tag} {name} is no whole number: {element.get(name)}")
        return 0
    found += [] if number in INT else [f"{element.tag} {name} has more than 32 bits"]
    return number


def _java_double(text: str, found: list[str]) -> None:
    """Complain of what Java's Double.valueOf refuses; it knows NaN and Infinity in this spelling only."""
    try:
        float(text)
    except ValueError:
        found.append(f"no number: {text!r}")
        return
    if text.lower().strip("+-") in ("nan", "inf", "infinity") and text.strip("+-") not in ("NaN", "Infinity"):
        found.append(f"no number of Java's: {text!r}")
