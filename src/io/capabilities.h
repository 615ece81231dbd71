#pragma once
// Determines for bug reports which of FFmpeg's encoders and GPU decoders work on this machine.

#include <string>
#include <vector>

namespace lull::io {

struct EncoderState {
  std::string name;     // FFmpeg's name
  std::string problem;  // why it cannot be used; empty: it can be used
};

/// Tests the most common video encoders, and returns for each encoder whether lull can use it. The
/// function opens each encoder that needs hardware. Every other encoder works if FFmpeg contains
/// it.
[[nodiscard]] std::vector<EncoderState> encoder_states();

/// Returns why FFmpeg cannot decode on the GPU `device` with NVDEC. The text is empty if FFmpeg can
/// decode there.
[[nodiscard]] std::string gpu_decoding_problem(int device);

}  // namespace lull::io
