#pragma once
// The test fixture for Zarr stores.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "core/error.h"
#include "io/media.h"
#include "io/support/clip.h"
#include "io/support/zarr_stores.h"

namespace lull::io::test {

/// A folder with a store, from which the tests make another store.
class Zarr : public testing::Test {
 protected:
  TemporaryFolder folder{/*in_memory=*/true};
  const std::string in = folder / "in.zarr", out = folder / "out.zarr";

  template <class Exception = BadData>
  void expect_refused(const std::string& part, const SourceOptions& options = {}) {
    try {
      const auto source = open_source(in, options);
      const auto sink = open_sink(out, *source, {});
      while (auto frame = source->read()) sink->write(*std::move(frame));
      ADD_FAILURE() << "not refused: " << part;
    } catch (const Exception& error) {
      EXPECT_THAT(error.what(),
                  testing::AllOf(testing::HasSubstr(part), testing::Not(testing::HasSubstr("\n"))));
    }
    EXPECT_THAT(folder.files(), testing::Not(testing::Contains(testing::HasSubstr("out"))));
  }

  /// Copies the store, and adds `change` to each value in the units of the file.
  void change_values(double change, const SinkOptions& options = {}) {
    const auto source = open_source(in);
    const auto sink = open_sink(out, *source, options);
    while (auto frame = source->read()) {
      const PlaneView<float> plane = frame->plane<float>(0);
      for (int y = 0; y < plane.height; ++y)
        for (int x = 0; x < plane.width; ++x)
          plane(x, y) += static_cast<float>(change / source->info().values.span);
      sink->write(*std::move(frame));
    }
    sink->finish();
  }
};

}  // namespace lull::io::test
