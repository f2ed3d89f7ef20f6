"""What workers send for TensorBoard: images of the first batch, and traces of some steps.

TensorFlow's own protobufs read the traces, which the profile page shows.
"""

import numpy as np
from tensor_board_expected import picture
from tensorflow.tsl.profiler.protobuf import xplane_pb2

IMAGES = 4
# They go on behind the validation of the first epoch.
STEPS = (2, 7)
ARGUMENTS = {"first_batch_images": IMAGES, "profile_batch": list(STEPS)}


def check_images(name, series, data):
    """The first examples in the order of the data, with the smallest of their values as black and the
    largest as white."""
    (step, tensor), = series.pop("first_batch")
    assert step == 0, (name, step)
    first = data[:IMAGES].astype("float64")
    black, white = first.min(), first.max()
    pixels = np.floor((first - black) / (white - black) * 255 + 0.5).astype("uint8")
    drawn = picture(tensor)
    assert (drawn["height"], drawn["width"]) == first.shape[1:3], (name, drawn["height"], drawn["width"])
    np.testing.assert_array_equal(np.array(drawn["images"]), pixels, err_msg=name)


def events_of(plane, line):
    """(name, begin, end) of each event in seconds since 1970, sorted."""
    events = []
    for event in line.events:
        begin = line.timestamp_ns / 1e9 + event.offset_ps / 1e12
        events.append((plane.event_metadata[event.metadata_id].name, begin, begin + event.duration_ps / 1e12))
    return sorted(events, key=lambda event: (event[1], -event[2]))


def check_nesting(where, events):
    """An event lies in the one before it, or begins behind it. Clocks are read in nanoseconds."""
    open_events = []
    for name, begin, end in events:
        while open_events and open_events[-1][2] <= begin + 1e-6:
            open_events.pop()
        assert not open_events or end <= open_events[-1][2] + 1e-6, (where, name, open_events[-1])
        open_events.append((name, begin, end))


def check_replica(where, events):
    """Returns the steps, each of which has what belongs to one."""
    steps = [event for event in events if event[0].startswith("step ")]
    for name, begin, end in steps:
        inner = {event[0] for event in events if begin - 1e-6 <= event[1] and event[2] <= end + 1e-6}
        kinds = {inner_name.rstrip("/0123456789").strip() for inner_name in inner}
        assert {"wait for data", "copy the batch", "forward and backward"} <= kinds, (where, name, kinds)
        assert end - begin < 30, (where, name, begin, end)
    return [int(name.removeprefix("step ")) for name, _, _ in steps]


def read_trace(name, path, times):
    """The steps of each replica, and the names of all lines and events."""
    space = xplane_pb2.XSpace()
    space.ParseFromString(path.read_bytes())
    assert list(space.hostnames) == [path.name.removesuffix(".xplane.pb")], (name, space.hostnames)
    assert not space.warnings and not space.errors, (name, space.warnings)
    plane, = space.planes
    assert plane.name == "/host:CPU", (name, plane.name)
    replicas, names = {}, set()
    for line in plane.lines:
        events = events_of(plane, line)
        assert events, (name, line.name)
        assert times[0] <= events[0][1] and events[-1][2] <= times[1], (name, line.name, events, times)
        check_nesting(f"{name}: {line.name}", events)
        if line.name.startswith("replica "):
            replicas[line.name] = check_replica(f"{name}: {line.name}", events)
        names |= {line.name} | {event[0] for event in events}
    assert len({line.id for line in plane.lines}) == len(plane.lines), name
    return replicas, names


def check_traces(name, folder, times, workers, replicas, expected):
    """`expected`: names that each trace has. Workers with leases of their own share the steps, others
    take all of them."""
    run, = (folder / "plugins" / "profile").iterdir()
    paths = sorted(run.iterdir())
    assert len(paths) <= workers, (name, paths)
    wanted = list(range(STEPS[0], STEPS[1] + 1))
    shared = []
    for path in paths:
        steps, names = read_trace(name, path, times)
        assert expected <= names, (name, expected - names)
        assert len(steps) == replicas, (name, steps)
        shared += sum(steps.values(), [])
    if name == "parameter_server":
        assert sorted(shared) == wanted, (name, shared)
    else:
        assert len(paths) == workers, (name, paths)
        assert sorted(shared) == sorted(wanted * workers * replicas), (name, shared)
    return len(paths)
