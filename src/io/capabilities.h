#pragma once
// Determines for bug reports which encoders and GPU decoders of FFmpeg work on this machine.

#include <string>
#include <vector>

namespace lull::io {

struct EncoderState {
  std::string name;     // FFmpeg's name
  std::string problem;  // why it cannot be used; empty: it can be used
};

/// Returns for the most common video encoders whether lull can use them. The function opens
/// encoders that need hardware. All other encoders work if FFmpeg contains them.
[[nodiscard]] std::vector<EncoderState> encoder_states();

/// Returns the reason why FFmpeg cannot decode with NVDEC on the GPU `device`. The text is empty if
/// FFmpeg can decode on this GPU.
[[nodiscard]] std::string gpu_decoding_problem(int device);

}  // namespace lull::io
