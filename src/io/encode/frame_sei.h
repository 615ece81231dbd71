#pragma once
// Writes the SEI messages of single frames (captions and HDR10+) into H.264 and HEVC streams.

#include <cstdint>
#include <span>
#include <vector>

#include "io/ffmpeg/ffmpeg.h"

namespace lull::io {

/// Returns the SEI messages of a frame as NAL units with start codes; empty if there are none, or
/// if `encoder` itself writes the messages.
std::vector<std::uint8_t> sei_messages(const AVFrame& properties, const AVCodecContext& encoder);

/// Inserts SEI messages before the first slice of an access unit in byte stream format (ITU-T H.264
/// and H.265, Annex B). A packet without a slice remains unchanged.
void insert_sei_messages(std::span<const std::uint8_t> messages, AVCodecID codec, AVPacket& packet);

}  // namespace lull::io
