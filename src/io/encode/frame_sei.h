#pragma once
// What travels with each frame as a message in the bit stream of H.264 and HEVC: captions, HDR10+.

#include <cstdint>
#include <span>
#include <vector>

#include "io/ffmpeg/ffmpeg.h"

namespace lull::io {

/// The frame's messages as NAL units for `encoder`'s codec, with start codes; empty if there are
/// none or the encoder writes them by itself.
std::vector<std::uint8_t> sei_messages(const AVFrame& properties, const AVCodecContext& encoder);

/// Puts them before the first slice of an access unit in byte stream format (ITU-T H.264 and H.265,
/// Annex B). Leaves the packet as it is where there is no slice.
void insert_sei_messages(std::span<const std::uint8_t> messages, AVCodecID codec, AVPacket& packet);

}  // namespace lull::io
