#pragma once
// Determines which encoders and which GPU decoders of FFmpeg work on this machine, for bug reports.

#include <string>
#include <vector>

namespace lull::io {

struct EncoderState {
  std::string name;     // FFmpeg's name
  std::string problem;  // why it cannot be used; empty: it can be used
};

/// Returns which of the most common video encoders can be used. The function opens each encoder
/// that needs hardware. Every other encoder can be used if FFmpeg contains it.
[[nodiscard]] std::vector<EncoderState> encoder_states();

/// Returns why FFmpeg cannot decode on the GPU with this index (NVDEC); empty if FFmpeg can.
[[nodiscard]] std::string gpu_decoding_problem(int device);

}  // namespace lull::io
