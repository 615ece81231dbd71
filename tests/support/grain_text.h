#pragma once
// Reads the text of a grain table in libaom's format, field by field.

#include <sstream>
#include <stdexcept>
#include <string>

#include "noise/grain/grain_table.h"

namespace lull::test_support {

class GrainReader {
 public:
  explicit GrainReader(const std::string& text) : in_(text) {}

  GrainTable table() {
    expect("filmgrn1");
    GrainTable table;
    for (std::string word; in_ >> word;) {
      if (word != "E") throw std::runtime_error("no entry but '" + word + "'");
      GrainEntry entry;
      entry.start = number();
      entry.end = number();
      const auto apply = number();
      (void)number();  // seed
      if (const auto update = number(); update != apply)
        throw std::runtime_error("an entry without parameters of its own");
      if (apply) entry.grain = params();
      table.push_back(entry);
    }
    return table;
  }

 private:
  void expect(const std::string& wanted) {
    std::string word;
    if (!(in_ >> word) || word != wanted)
      throw std::runtime_error("'" + word + "' in place of " + wanted);
  }
  std::int64_t number() {
    std::int64_t value = 0;
    if (!(in_ >> value)) throw std::runtime_error("no number");
    return value;
  }
  int small() { return static_cast<int>(number()); }

  GrainParams params() {
    GrainParams grain;
    expect("p");
    if (small() != grain_lag) throw std::runtime_error("another lag");
    grain.ar_coeff_shift = small();
    grain.grain_scale_shift = small();
    grain.scaling_shift = small();
    if (small() != 0) throw std::runtime_error("chroma is scaled as luma");
    if (small() != 1) throw std::runtime_error("no overlap");
    for (int i = 0; i < 2; ++i)
      for (const int wanted : {128, 192, 256})
        if (small() != wanted) throw std::runtime_error("chroma is not scaled by luma");
    constexpr const char* names[] = {"Y", "Cb", "Cr"};
    for (int i = 0; i < 3; ++i) {
      expect(std::string("s") + names[i]);
      grain.points[i].resize(static_cast<std::size_t>(number()));
      for (ScalingPoint& point : grain.points[i]) {
        point.at = small();
        point.scale = small();
      }
    }
    for (int i = 0; i < 3; ++i) {
      expect(std::string("c") + names[i]);
      for (int& coefficient : grain.ar_coeffs[i]) coefficient = small();
      if (i > 0) grain.luma_coeff[i] = small();
    }
    return grain;
  }

  std::istringstream in_;
};

inline GrainTable grain_table_of(const std::string& text) { return GrainReader(text).table(); }

}  // namespace lull::test_support
