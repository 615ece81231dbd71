#include "io/write/loss_notes.h"

#include <algorithm>

#include "io/ffmpeg/side_data.h"
#include "io/write/losses.h"

namespace lull::io {

void LossList::add(const std::string& text) {
  if (!text.empty() && std::ranges::find(list_, text) == list_.end()) list_.push_back(text);
}

void LossList::add(const std::vector<std::string>& texts) {
  for (const std::string& text : texts) add(text);
}

void LossList::add_of_frame(const Frame& frame, const Encoder& encoder,
                            const Container& container) {
  if (frame.side_data) add(loss_of_frame(*frame.side_data->properties, encoder.context()));
  if (encoder.times()->has_moved_times())
    add("times of frames (." + container.extension +
        " has a constant rate, to which they are moved)");
}

void LossList::check() const {
  if (strict_) refuse_losses(list_);
}

void refuse_losses(const std::vector<std::string>& losses) {
  if (losses.empty()) return;
  const std::size_t others = losses.size() - 1;
  throw InvalidArgument(
      "--strict-metadata: not in the output: " + losses.front() +
      (others > 0 ? " and " + std::to_string(others) + (others == 1 ? " other" : " others") : "") +
      "; use another container or encoder");
}

}  // namespace lull::io
