#include <memory>
#include <utility>

#include "cuda/results/result_frames.h"

namespace lull::cuda {
namespace {

/// A picture in GPU memory that shares the ownership of its planes.
struct KeptPicture {
  DevicePicture picture;
  std::shared_ptr<std::byte[]> pixels;
};

}  // namespace

Frame on_device(Frame frame, int device) {
  auto kept = std::make_shared<KeptPicture>();
  kept->picture.device = device;
  for (std::size_t i = 0; i < frame.planes.size(); ++i) kept->picture.planes[i] = frame.planes[i];
  kept->pixels = frame.pixels;
  frame.on_device = {kept, &kept->picture};
  return frame;
}

Frame publish_frame(Frame frame) {
  if (frame.on_device) {
    frame.planes = {};
    frame.pixels.reset();
  }
  return frame;
}

}  // namespace lull::cuda
