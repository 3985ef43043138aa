# SPDX-License-Identifier: GPL-2.0-or-later
"""Metadata and packets of CTF, with generated events."""

import struct

from import_events import COMMON

CTF_TYPES = {(1, 0): "u8", (2, 0): "u16", (4, 0): "u32", (8, 0): "u64",
             (4, 1): "s32"}
CTF_HEAD = """/* CTF 1.8 */
typealias integer {{ size = 8; align = 8; signed = false; }} := u8;
typealias integer {{ size = 16; align = 8; signed = false; }} := u16;
typealias integer {{ size = 32; align = 8; signed = false; }} := u32;
typealias integer {{ size = 64; align = 8; signed = false; }} := u64;
typealias integer {{ size = 32; align = 8; signed = true; }} := s32;
trace {{ major = 1; minor = 8; byte_order = {byte_order};
  packet.header := struct {{ u32 magic; u32 stream_id; }}; }};
clock {{ name = c; uuid = "5d0a1d2c-8f4e-4f0e-9b3a-6c1f2e7d9a10"; freq = 1000000000; }};
typealias integer {{ size = 64; align = 8; map = clock.c.value; }} := ts;
stream {{ id = 0;
  packet.context := struct {{ ts timestamp_begin; ts timestamp_end;
    u64 content_size; u64 packet_size; u64 events_discarded;{cpu} }};
  event.header := struct {{ u16 id; ts timestamp; }};{context} }};
"""


def ctf_metadata(tracepoints, prefix="{system}:", cpu=" u32 cpu_id;",
                 context="", without=(), env=None, order="<"):
    """Return the metadata as text. order: the byte order of the packets."""
    text = CTF_HEAD.format(cpu=cpu, context=context,
                           byte_order="le" if order == "<" else "be")
    if env:
        text += "env {" + "".join(f' {key} = "{value}";' for key, value
                                  in env.items()) + " };\n"
    for name, (system, number, fields) in tracepoints.items():
        text += f'event {{ name = "{prefix.format(system=system)}{name}"; ' \
                f"id = {number}; stream_id = 0; fields := struct {{\n"
        for field in COMMON + tuple(fields):
            if field.name in without:
                continue
            kind = "string" if "data_loc" in field.type else \
                CTF_TYPES[field.size, field.signed]
            # A leading _ of a name is ignored.
            text += f"  {kind} _{field.name};\n"
        text += "}; };\n"
    return text


def ctf_metadata_packets(text, step=400, order="<"):
    """Return the metadata in packets, as LTTng writes it."""
    out, data = b"", text.encode()
    for at in range(0, len(data), step):
        part = data[at:at + step]
        size = 8 * (37 + len(part))
        # The bytes after the text of a packet are unused.
        out += struct.pack(order + "I16sIIIBBBBB", 0x75d11d57, bytes(16), 0,
                           size, size + 8 * 16, 0, 0, 0, 1, 8)
        out += part + bytes(16)
    return out


def ctf_packet(events, tracepoints, cpu=0, discarded=0, without=(),
               context=b"", has_cpu=True, order="<"):
    """Return a packet of the events of one CPU."""
    body = b""
    for event in events:
        _, number, fields = tracepoints[event.name]
        values = {"common_type": number, "common_pid": 7, "node": -1,
                  **event.values}
        body += struct.pack(order + "HQ", number, event.time) + context
        for field in COMMON + tuple(fields):
            if field.name in without:
                continue
            value = values.get(field.name, 0)
            if "data_loc" in field.type:
                body += str(value or "").encode() + b"\0"
            else:
                body += (value & (1 << field.size * 8) - 1).to_bytes(
                    field.size, "little" if order == "<" else "big")
    size = 8 + 40 + (4 if has_cpu else 0) + len(body)
    head = struct.pack(order + "IIQQQQQ", 0xc1fc1fc1, 0, events[0].time,
                       events[-1].time, size * 8, size * 8, discarded)
    return head + (struct.pack(order + "I", cpu) if has_cpu else b"") + body
