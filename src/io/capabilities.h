#pragma once
// Determines for bug reports which encoders and GPU decoders of FFmpeg work on this machine.

#include <string>
#include <vector>

namespace lull::io {

struct EncoderState {
  std::string name;     // FFmpeg's name
  std::string problem;  // why it cannot be used; empty: it can be used
};

/// Returns which of the most common video encoders work. The function tests hardware encoders by
/// opening them. All other encoders that FFmpeg contains count as working.
[[nodiscard]] std::vector<EncoderState> encoder_states();

/// Returns the reason why FFmpeg cannot decode with NVDEC on the GPU `device`; empty if FFmpeg can
/// decode with it.
[[nodiscard]] std::string gpu_decoding_problem(int device);

}  // namespace lull::io
