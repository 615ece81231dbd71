#include "io/volumes/stack_samples.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <concepts>
#include <cstring>
#include <limits>

#include "core/slices.h"

namespace lull::io {
namespace {

template <class T>
T read_sample(const std::byte* from, bool swapped) {
  std::byte bytes[sizeof(T)];
  std::memcpy(bytes, from, sizeof(T));
  if (swapped) std::reverse(bytes, bytes + sizeof(T));
  return std::bit_cast<T>(bytes);
}

template <class T>
void write_sample(T value, bool swapped, std::byte* to) {
  std::byte bytes[sizeof(T)];
  std::memcpy(bytes, &value, sizeof(T));
  if (swapped) std::reverse(bytes, bytes + sizeof(T));
  std::memcpy(to, bytes, sizeof(T));
}

/// Calls `use` with a value of the C++ type that corresponds to `type`.
template <class Use>
void with_type(StoredType type, Use&& use) {
  switch (type) {
    case StoredType::u8:
      return use(std::uint8_t{});
    case StoredType::i8:
      return use(std::int8_t{});
    case StoredType::u16:
      return use(std::uint16_t{});
    case StoredType::i16:
      return use(std::int16_t{});
    case StoredType::u32:
      return use(std::uint32_t{});
    case StoredType::i32:
      return use(std::int32_t{});
    case StoredType::u64:
      return use(std::uint64_t{});
    case StoredType::i64:
      return use(std::int64_t{});
    case StoredType::f32:
      return use(float{});
    case StoredType::f64:
      return use(double{});
  }
}

template <class T>
double value_of(T stored, const StoredFormat& format) {
  return static_cast<double>(stored) * format.slope + format.inter;
}

double position(double value, const ValueRange& range) { return (value - range.low) / range.span; }

/// Returns whether a frame sample lies in the range of values (0..1) or in the margin around this
/// range; false for NaN.
bool is_within_margin(double at) { return at >= -outlier_margin && at <= 1 + outlier_margin; }

float to_frame(double at) {
  return is_within_margin(at) ? static_cast<float>(at) : std::numeric_limits<float>::quiet_NaN();
}

/// Rounds a value to an integer, with ties to even. Values that do not fit in T may remain
/// unchanged.
template <class T>
double round_to_even(double value) {
  // For types of up to 32 bits, the addition and subtraction of `shift` rounds the value to an
  // integer. The two operations are faster than nearbyint(), which is a function call in builds
  // without SSE4.1. Values from 2^51 on do not fit in T, so they need no rounding.
  constexpr double shift = 0x1.8p52;
  if constexpr (sizeof(T) <= 4)
    return std::abs(value) < 0x1p51 ? value + shift - shift : value;
  else
    return std::nearbyint(value);
}

template <class T>
T from_value(double value, const StoredFormat& format) {
  const double stored = (value - format.inter) / format.slope;
  using Limits = std::numeric_limits<T>;
  if constexpr (std::floating_point<T>) {
    // The function clamps finite values to the range of the type, so that no value becomes
    // infinite.
    if (!std::isfinite(stored)) return static_cast<T>(stored);
    return static_cast<T>(std::clamp(stored, static_cast<double>(Limits::lowest()),
                                     static_cast<double>(Limits::max())));
  } else {
    if (std::isnan(stored)) return from_value<T>(0, format);
    const double rounded = round_to_even<T>(stored);
    // The comparisons include equality, because the maximum of a 64-bit integer type rounds up in
    // double precision. The conversion of this rounded maximum to T would be undefined behaviour.
    if (rounded <= static_cast<double>(Limits::min())) return Limits::min();
    if (rounded >= static_cast<double>(Limits::max())) return Limits::max();
    return static_cast<T>(rounded);
  }
}

template <class From, class To>
void store_as(std::span<const float> filtered, const std::byte* original,
              const StoredFormat& format, const ValueRange& range, const StoredFormat& out,
              std::byte* to) {
  const bool same = format == out;
  for (std::size_t i = 0; i < filtered.size(); ++i, original += sizeof(From), to += sizeof(To)) {
    const double value = value_of(read_sample<From>(original, format.swapped), format);
    const double at = position(value, range);
    const bool untouched = !is_within_margin(at) || filtered[i] == to_frame(at);
    if (untouched && same) {
      std::memcpy(to, original, sizeof(From));
      continue;
    }
    const double result = untouched ? value : range.low + filtered[i] * range.span;
    write_sample(from_value<To>(result, out), out.swapped, to);
  }
}

constexpr std::uint64_t max_collected = 1 << 20;

}  // namespace

int size_of(StoredType type) {
  int size = 0;
  with_type(type, [&](auto sample) { size = sizeof sample; });
  return size;
}

std::string_view name_of(StoredType type) {
  constexpr std::string_view names[] = {"uint8", "int8",   "uint16", "int16",   "uint32",
                                        "int32", "uint64", "int64",  "float32", "float64"};
  return names[static_cast<int>(type)];
}

double white_of(const StoredFormat& format, const ValueRange& range) {
  const bool is_float = format.type == StoredType::f32 || format.type == StoredType::f64;
  if (format.type == StoredType::u8 && format.slope == 1 && format.inter == 0) return 255;
  // A range of floats fits the scale 0..white under two conditions. Its span is at least `min_used`
  // * white. Its ends lie at most `beyond` * white outside the scale.
  constexpr double beyond = 0.5, min_used = 0.125;
  for (const double white : {1.0, 255.0, 65535.0})
    if (is_float && range.low >= -beyond * white &&
        range.low + range.span <= (1 + beyond) * white && range.span >= min_used * white)
      return white;
  return range.span;
}

RangeFinder::RangeFinder(const StoredFormat& format, std::uint64_t samples)
    : format_(format),
      step_((samples + max_collected - 1) / max_collected),
      minimum_(std::numeric_limits<double>::infinity()),
      maximum_(-std::numeric_limits<double>::infinity()) {
  if (step_ == 0) step_ = 1;
  // The class computes percentiles from one of every `step_` samples. An odd step selects samples
  // in all columns. An even step could skip the same columns in all rows.
  if (step_ % 2 == 0) ++step_;
}

void RangeFinder::add(std::span<const std::byte> stored) {
  with_type(format_.type, [&]<class T>(T) {
    const std::size_t count = stored.size() / sizeof(T);
    for (std::size_t i = 0; i < count;) {
      const auto run = static_cast<std::size_t>(std::min<std::uint64_t>(to_skip_ + 1, count - i));
      add_extremes<T>(&stored[i * sizeof(T)], run);
      i += run;
      if (run <= to_skip_) {
        to_skip_ -= run;
        return;
      }
      to_skip_ = step_ - 1;
      const double value =
          value_of(read_sample<T>(&stored[(i - 1) * sizeof(T)], format_.swapped), format_);
      if (std::isfinite(value)) collected_.push_back(value);
    }
  });
}

template <class T>
void RangeFinder::add_extremes(const std::byte* stored, std::size_t count) {
  const auto add_value = [&](double value) {
    if (!std::isfinite(value)) return;
    minimum_ = std::min(minimum_, value);
    maximum_ = std::max(maximum_, value);
  };
  if constexpr (std::floating_point<T>) {
    for (std::size_t i = 0; i < count; ++i)
      add_value(value_of(read_sample<T>(stored + i * sizeof(T), format_.swapped), format_));
  } else {
    // The range needs only the minimum and the maximum of the values. The conversion of integers to
    // values is monotonic, so the function converts only the smallest and the largest integer.
    // Compilers vectorise the loop over integers.
    T low = std::numeric_limits<T>::max(), high = std::numeric_limits<T>::lowest();
    const auto add_integers = [&](bool swapped) {
      for (std::size_t i = 0; i < count; ++i) {
        const T sample = read_sample<T>(stored + i * sizeof(T), swapped);
        low = std::min(low, sample);
        high = std::max(high, sample);
      }
    };
    format_.swapped ? add_integers(true) : add_integers(false);
    add_value(value_of(low, format_));
    add_value(value_of(high, format_));
  }
}

ValueRange RangeFinder::range() const {
  if (!(minimum_ <= maximum_)) return {};
  double low = minimum_, high = maximum_;
  if (!collected_.empty()) {
    std::vector<double> values = collected_;
    const double count = static_cast<double>(values.size() - 1);
    const auto nth_value = [&](double nth) {
      const auto at = values.begin() + static_cast<std::ptrdiff_t>(nth);
      std::nth_element(values.begin(), at, values.end());
      return *at;
    };
    const double first = nth_value(std::floor(0.0001 * count)),
                 last = nth_value(std::ceil(0.9999 * count));
    if (last > first) {
      low = std::max(low, first - (last - first) / 2);
      high = std::min(high, last + (last - first) / 2);
    }
  }
  const double span = std::min(high - low, std::numeric_limits<double>::max());
  return {low, span > 0 ? span : 1};
}

void load_stored(std::span<const std::byte> stored, const StoredFormat& format,
                 const ValueRange& range, std::span<float> to) {
  with_type(format.type, [&]<class T>(T) {
    for (std::size_t i = 0; i < to.size(); ++i) {
      const T sample = read_sample<T>(&stored[i * sizeof(T)], format.swapped);
      to[i] = to_frame(position(value_of(sample, format), range));
    }
  });
}

void load_values(std::span<const std::byte> stored, const StoredFormat& format,
                 std::vector<double>& values) {
  with_type(format.type, [&]<class T>(T) {
    values.resize(stored.size() / sizeof(T));
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = value_of(read_sample<T>(&stored[i * sizeof(T)], format.swapped), format);
  });
}

void store_values(std::span<const double> values, const StoredFormat& format,
                  std::span<std::byte> to) {
  with_type(format.type, [&]<class T>(T) {
    for (std::size_t i = 0; i < values.size(); ++i)
      write_sample(from_value<T>(values[i], format), format.swapped, &to[i * sizeof(T)]);
  });
}

void zero_outside(const Frame& slice, int y, const StoredFormat& out, std::span<std::byte> row) {
  if (!slice.mask || !slice.mask->zero()) return;
  with_type(out.type, [&]<class T>(T) {
    const T zero = from_value<T>(0, out);
    for (int x = 0; x < slice.mask->width(); ++x)
      if (!slice.mask->inside(x, y)) write_sample(zero, out.swapped, &row[x * sizeof(T)]);
  });
}

void store_filtered(std::span<const float> filtered, std::span<const std::byte> original,
                    const StoredFormat& format, const ValueRange& range, const StoredFormat& out,
                    std::span<std::byte> to) {
  with_type(format.type, [&]<class From>(From) {
    with_type(out.type, [&]<class To>(To) {
      store_as<From, To>(filtered, original.data(), format, range, out, to.data());
    });
  });
}

}  // namespace lull::io
