#pragma once
// Determines for bug reports which of FFmpeg's encoders and GPU decoders work on this machine.

#include <string>
#include <vector>

namespace lull::io {

struct EncoderState {
  std::string name;     // FFmpeg's name
  std::string problem;  // why it cannot be used; empty: it can be used
};

/// Tests the most common video encoders, and returns for each whether lull can use it. The function
/// opens encoders that need hardware; other encoders work if FFmpeg contains them.
[[nodiscard]] std::vector<EncoderState> encoder_states();

/// Returns why FFmpeg cannot decode with NVDEC on the GPU `device`; an empty text if it can.
[[nodiscard]] std::string gpu_decoding_problem(int device);

}  // namespace lull::io
