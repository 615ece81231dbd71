#include "tools/volumes/phase_file.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <numbers>
#include <utility>

#include "core/error.h"
#include "core/samples.h"
#include "core/slices.h"
#include "series/complex/slow_phase.h"
#include "tools/html/markup.h"

namespace lull::tools {
namespace {

constexpr double full_turn = 2 * std::numbers::pi;

std::unique_ptr<io::MediaSource> open_phases(const InputOptions& options,
                                             const io::MediaSource& source) {
  io::SourceOptions reading;
  reading.limits = options.source.limits;
  reading.axis = options.source.axis;
  auto phases = io::open_source(options.phase, reading);
  if (!phases->info().volume)
    throw InvalidArgument("--phase " + options.phase +
                          " (it is not a volume); give the phase file of the acquisition");
  const FrameFormat &a = phases->format(), &b = source.format();
  const io::VideoInfo &of_phase = phases->info(), &of_input = source.info();
  if (a.width != b.width || a.height != b.height || of_phase.slices != of_input.slices ||
      of_phase.frames_estimate != of_input.frames_estimate)
    throw BadData(
        "--phase " + options.phase + " has " +
        printed("%dx%dx%lld", a.width, a.height, static_cast<long long>(of_phase.frames_estimate)) +
        " voxels, the input has " +
        printed("%dx%dx%lld", b.width, b.height, static_cast<long long>(of_input.frames_estimate)) +
        " (magnitude and phase must be of one acquisition); give its phase file");
  return phases;
}

}  // namespace

double turn_of_range(double low, double high) {
  // The range of the phases reveals their unit, because the phases of noise are spread over nearly
  // a full turn. A range between 1 and 2 * pi always means radians, even if it is much less than a
  // full turn.
  constexpr double least_share = 0.9, most_share = 1.001;
  const double range = high - low;
  if (!(range > 0)) return 0;
  if (range <= most_share * full_turn && range > 1 && high <= 1.01 * full_turn) return full_turn;
  for (const double turn : {360.0, 4096.0, 1000 * full_turn, 8192.0})
    if (range >= least_share * turn && range <= most_share * turn) return turn;
  return 0;
}

PhaseFile::PhaseFile(const InputOptions& options, const io::MediaSource& source,
                     const std::function<void(io::MediaSource& phases)>& on_open)
    : name_(options.phase), source_(open_phases(options, source)) {
  if (on_open) on_open(*source_);
  find_turn(options.phase_turn);
  source_ = open_phases(options, source);
}

void PhaseFile::find_turn(double given) {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  while (const std::optional<Frame> slice = source_->read()) {
    source_->values_of(*slice, values_);
    for (const double value : values_)
      if (std::isfinite(value)) low = std::min(low, value), high = std::max(high, value);
  }
  turn_ = given > 0 ? given : turn_of_range(low, high);
  if (!(turn_ > 0))
    throw BadData(
        "--phase " + name_ + " has values from " + printed("%.6g", low) + " to " +
        printed("%.6g", high) +
        " (neither radians nor degrees, nor a range of 4096 or 8192); give the value of a "
        "full turn with --phase-turn");
  lowest_ = high - low <= turn_ ? low : -turn_ / 2;
}

Frame PhaseFile::next(std::vector<float>& radians) {
  std::optional<Frame> slice = source_->read();
  if (!slice) throw BadData("--phase " + name_ + " has too few slices; give a complete file");
  source_->values_of(*slice, values_);
  radians.resize(values_.size());
  std::ranges::transform(values_, radians.begin(), [this](double value) {
    return static_cast<float>(value / turn_ * full_turn);
  });
  return *std::move(slice);
}

PhaseOutput::PhaseOutput(const DenoiseOptions& options, const io::MediaSource& source) {
  if (options.output.phase.empty()) return;
  zero_ = static_cast<float>(-255 * source.info().values.low / source.info().values.span);
  const std::string& path = options.output.phase;
  const io::SinkOptions result{.overwrite = options.output.overwrite,
                               .access = options.output.access};
  phases_ = std::make_unique<PhaseFile>(
      options.input, source, [&](io::MediaSource& phases) { check_output(path, phases, result); });
  sink_ = io::open_sink(path, phases_->source(), result);
}

void PhaseOutput::write(const Frame& noisy, const Frame& real, const Frame& imaginary) {
  std::vector<float> radians;
  Frame slice = phases_->next(radians);
  const PlaneView<const float> magnitudes = noisy.plane<float>(0), a = real.plane<float>(0),
                               b = imaginary.plane<float>(0);
  const float scale = to_unit_255(noisy.format);
  std::vector<std::complex<float>> samples;
  for (int y = 0; y < magnitudes.height; ++y)
    for (int x = 0; x < magnitudes.width; ++x) {
      const float magnitude = magnitudes(x, y) * scale - zero_, phase = radians[samples.size()];
      samples.emplace_back(magnitude * std::cos(phase), magnitude * std::sin(phase));
    }
  const auto factors = series::slow_phase_factors(samples, magnitudes.width, magnitudes.height);
  const io::ValueScale& values = phases_->source().info().values;
  const PlaneView<float> to = slice.plane<float>(0);
  for (int y = 0, i = 0; y < to.height; ++y)
    for (int x = 0; x < to.width; ++x, ++i) {
      const bool kept = std::isnan(magnitudes(x, y)) || (a(x, y) == 0 && b(x, y) == 0) ||
                        std::isnan(radians[i]) || (noisy.mask && !noisy.mask->inside(x, y));
      if (kept) continue;
      const double phase = std::arg(std::complex<double>(a(x, y), b(x, y)) *
                                    std::conj(std::complex<double>(factors[i])));
      double value = phase / full_turn * phases_->turn();
      value -= phases_->turn() * std::floor((value - phases_->lowest()) / phases_->turn());
      to(x, y) = static_cast<float>((value - values.low) / values.span * slice.format.full_scale());
    }
  sink_->write(std::move(slice));
}

void PhaseOutput::finish() {
  if (sink_) sink_->finish();
}

}  // namespace lull::tools
