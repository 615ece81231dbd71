#include "tools/commands/run_sink.h"

#include <algorithm>
#include <utility>

#include "core/error.h"
#include "tools/search/noise_scenes.h"

namespace lull::tools {

std::string describe(const io::Damage& damage, const std::string& input) {
  return std::to_string(damage.frames) + (damage.frames == 1 ? " frame" : " frames") + " of '" +
         input + "' damaged or missing (" + damage.first + ")";
}

void RunSink::write(Frame frame) {
  if (frame.context_only) {
    ++context_frames_;
    return;
  }
  time_s_ = time_of(frame);
  const auto number = written_++;
  if (!options_.output.keep || number == *options_.output.keep) sink_.write(std::move(frame));
  if (number == options_.output.keep) kept_ = true;
}

void RunSink::finish() {
  if (options_.output.keep && written_ <= *options_.output.keep)
    throw InvalidArgument("--keep " + std::to_string(*options_.output.keep) + " (the input has " +
                          std::to_string(written_) +
                          " frames, counted from 0); choose one of "
                          "them");
  const auto accepts = [&] { return damage().frames <= options_.input.max_decode_errors; };
  const std::string kept = sink_.finish_if(accepts);
  if (accepts()) return;
  const io::Damage found = damage();
  throw BadData(describe(found, options_.input.file) +
                (kept.empty() ? "" : "; the frames that could be denoised are in '" + kept + "'") +
                "; --max-decode-errors " + std::to_string(found.frames) + " accepts it");
}

io::Damage RunSink::damage() const {
  io::Damage sum = source_.damage();
  const io::Damage copied = sink_.damage();
  sum.frames += copied.frames;
  if (sum.first.empty()) sum.first = copied.first;
  return sum;
}

std::int64_t done_before(const std::vector<io::FrameRange>& needed, std::int64_t frames) {
  std::int64_t count = frames;
  for (const io::FrameRange& range : needed)
    count -= std::max<std::int64_t>(std::min(range.last, frames - 1) - range.first + 1, 0);
  return count;
}

}  // namespace lull::tools
