#pragma once
// Shared parts of the tests of volumes.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <functional>
#include <limits>
#include <random>

#include "io/support/clip.h"
#include "io/support/volumes.h"

namespace lull::io::test {

inline File zipped(const File& bytes) {
  z_stream zip{};
  deflateInit2(&zip, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
  File packed(bytes.size() + 1000);
  zip.next_in = const_cast<Bytef*>(bytes.data());
  zip.avail_in = static_cast<uInt>(bytes.size());
  zip.next_out = packed.data();
  zip.avail_out = static_cast<uInt>(packed.size());
  EXPECT_EQ(deflate(&zip, Z_FINISH), Z_STREAM_END);
  packed.resize(zip.total_out);
  deflateEnd(&zip);
  return packed;
}

/// Returns the values over the complete range of T; for floats also NaN and infinities.
template <class T>
std::vector<T> hostile_samples(std::size_t count) {
  using Limits = std::numeric_limits<T>;
  std::mt19937_64 rng{7};
  std::vector<T> samples(count);
  for (T& sample : samples) {
    if constexpr (std::is_floating_point_v<T>)
      sample = static_cast<T>(std::normal_distribution<double>{-300, 1000}(rng));
    else
      sample = static_cast<T>(rng());
  }
  samples[0] = Limits::lowest();
  samples[1] = Limits::max();
  if constexpr (std::is_floating_point_v<T>) {
    samples[2] = Limits::quiet_NaN();
    samples[3] = Limits::infinity();
    samples[4] = -Limits::infinity();
    samples[5] = Limits::denorm_min();
    samples[6] = static_cast<T>(-0.0);
  }
  return samples;
}

class Nifti : public testing::Test {
 protected:
  TemporaryFolder folder;
  const std::string in = folder / "in.nii", out = folder / "out.nii";

  /// Copies a file with source and sink; `filter` changes each slice.
  void convert(const std::string& from, const std::string& to, Axis axis,
               const std::function<void(PlaneView<float>)>& filter = {},
               DataType datatype = DataType::same) {
    const auto source = open_source(from, {.axis = axis});
    const auto sink = open_sink(to, *source, {.overwrite = true, .datatype = datatype});
    while (auto frame = source->read()) {
      if (filter) filter(frame->plane<float>(0));
      sink->write(*std::move(frame));
    }
    sink->finish();
  }

  void expect_refused(const File& bytes, const std::string& part) {
    write_file(in, bytes);
    try {
      const auto source = open_source(in);
      while (source->read()) continue;
      ADD_FAILURE() << "not refused: " << part;
    } catch (const BadData& error) {
      EXPECT_THAT(error.what(), testing::HasSubstr(part));
      EXPECT_THAT(error.what(), testing::Not(testing::HasSubstr("\n")));
    }
  }
};

}  // namespace lull::io::test
