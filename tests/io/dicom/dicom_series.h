#pragma once
// DICOM files that tests write byte by byte, and series made of them.

#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <string>
#include <vector>

#include "core/error.h"
#include "io/media.h"
#include "io/support/clip.h"
#include "io/support/volumes.h"

namespace lull::io::test {

/// Writes elements in the transfer syntax Explicit VR Little Endian (PS3.5, 7.1.2).
class ElementWriter {
 public:
  ElementWriter& text(int group, int element, const std::string& vr, std::string value) {
    if (value.size() % 2 != 0) value += vr == "UI" ? '\0' : ' ';
    return bytes(group, element, vr, File(value.begin(), value.end()));
  }
  ElementWriter& number(int group, int element, int value) {
    File raw;
    put(raw, 0, static_cast<std::uint16_t>(value), false);
    return bytes(group, element, "US", raw);
  }
  ElementWriter& bytes(int group, int element, const std::string& vr, const File& value) {
    put(file_, file_.size(), static_cast<std::uint16_t>(group), false);
    put(file_, file_.size(), static_cast<std::uint16_t>(element), false);
    file_.insert(file_.end(), vr.begin(), vr.end());
    if (vr == "OW" || vr == "OB" || vr == "SQ") {
      put(file_, file_.size(), std::uint16_t{0}, false);
      put(file_, file_.size(), static_cast<std::uint32_t>(value.size()), false);
    } else {
      put(file_, file_.size(), static_cast<std::uint16_t>(value.size()), false);
    }
    file_.insert(file_.end(), value.begin(), value.end());
    return *this;
  }
  /// Writes compressed samples: an element of undefined length with one item for each file of
  /// `items` (PS3.5, A.4).
  ElementWriter& encapsulated(const std::vector<File>& items) {
    const auto tag = [&](int group, int element, std::uint32_t length) {
      put(file_, file_.size(), static_cast<std::uint16_t>(group), false);
      put(file_, file_.size(), static_cast<std::uint16_t>(element), false);
      if (group == 0x7fe0) put(file_, file_.size(), std::uint32_t{0x424f}, false);
      put(file_, file_.size(), length, false);
    };
    tag(0x7fe0, 0x10, 0xffffffff);
    for (const File& item : items) {
      tag(0xfffe, 0xe000, static_cast<std::uint32_t>(item.size()));
      file_.insert(file_.end(), item.begin(), item.end());
    }
    tag(0xfffe, 0xe0dd, 0);
    return *this;
  }
  ElementWriter& sequence(int group, int element, const std::vector<File>& items) {
    File all;
    for (const File& item : items) {
      put(all, all.size(), std::uint16_t{0xfffe}, false);
      put(all, all.size(), std::uint16_t{0xe000}, false);
      put(all, all.size(), static_cast<std::uint32_t>(item.size()), false);
      all.insert(all.end(), item.begin(), item.end());
    }
    return bytes(group, element, "SQ", all);
  }
  const File& file() const { return file_; }

 private:
  File file_;
};

inline constexpr const char* series_root = "1.2.826.0.1.3680043.10.511.3";

struct DicomSpec {
  std::string sop_class = "1.2.840.10008.5.1.4.1.1.2", image_type = "ORIGINAL\\PRIMARY\\AXIAL";
  std::string series = "7", uid = "1", instance = "1";
  std::string position = {}, orientation = {}, slope = {}, inter = {};
  std::string photometric = "MONOCHROME2";
  std::string syntax = "1.2.840.10008.1.2.1";
  int columns = 5, rows = 4, stored = 16, allocated = 16;
  bool is_signed = true;
  std::vector<int> samples = {};
  std::vector<File> items = {};                   // compressed samples, instead of `samples`
  std::vector<std::string> frame_positions = {};  // an enhanced image with several frames
  int frames = 1;                                 // of an image without functional groups
  std::string offsets = {}, dose_scaling = {};    // of RT Dose
  std::string description = {};                   // of the series; empty: "A series" and its number
};

inline File dicom_file(const DicomSpec& spec) {
  ElementWriter meta;
  meta.bytes(2, 1, "OB", {0, 1})
      .text(2, 2, "UI", spec.sop_class)
      .text(2, 3, "UI", std::string(series_root) + ".1." + spec.uid)
      .text(2, 0x10, "UI", spec.syntax);
  File length;
  put(length, 0, static_cast<std::uint32_t>(meta.file().size()), false);
  ElementWriter all;
  all.bytes(2, 0, "UL", length);
  ElementWriter set;
  set.text(8, 8, "CS", spec.image_type)
      .text(8, 0x16, "UI", spec.sop_class)
      .text(8, 0x18, "UI", std::string(series_root) + ".1." + spec.uid)
      .text(8, 0x103e, "LO",
            spec.description.empty() ? "A series " + spec.series : spec.description)
      .text(0x10, 0x10, "PN", "Nobody^Real")
      .text(0x18, 0x50, "DS", "2.5")
      .text(0x20, 0xd, "UI", std::string(series_root) + ".2")
      .text(0x20, 0xe, "UI", std::string(series_root) + ".3." + spec.series)
      .text(0x20, 0x11, "IS", spec.series)
      .text(0x20, 0x13, "IS", spec.instance);
  if (!spec.position.empty()) set.text(0x20, 0x32, "DS", spec.position);
  if (!spec.orientation.empty() && spec.frame_positions.empty())
    set.text(0x20, 0x37, "DS", spec.orientation);
  set.number(0x28, 2, spec.photometric == "RGB" ? 3 : 1).text(0x28, 4, "CS", spec.photometric);
  if (!spec.frame_positions.empty())
    set.text(0x28, 8, "IS", std::to_string(spec.frame_positions.size()));
  else if (spec.frames > 1)
    set.text(0x28, 8, "IS", std::to_string(spec.frames));
  set.number(0x28, 0x10, spec.rows).number(0x28, 0x11, spec.columns);
  if (spec.frame_positions.empty()) set.text(0x28, 0x30, "DS", "0.75\\0.5");
  set.number(0x28, 0x100, spec.allocated)
      .number(0x28, 0x101, spec.stored)
      .number(0x28, 0x102, spec.stored - 1)
      .number(0x28, 0x103, spec.is_signed ? 1 : 0);
  if (!spec.inter.empty()) set.text(0x28, 0x1052, "DS", spec.inter);
  if (!spec.slope.empty()) set.text(0x28, 0x1053, "DS", spec.slope);
  if (!spec.offsets.empty()) set.text(0x3004, 0xc, "DS", spec.offsets);
  if (!spec.dose_scaling.empty()) set.text(0x3004, 0xe, "DS", spec.dose_scaling);
  if (!spec.frame_positions.empty()) {
    const auto group = [](int element, const File& item, int of = 0x20) {
      return ElementWriter().sequence(of, element, {item}).file();
    };
    File shared = group(0x9116, ElementWriter().text(0x20, 0x37, "DS", spec.orientation).file());
    const File measures =
        group(0x9110, ElementWriter().text(0x28, 0x30, "DS", "0.75\\0.5").file(), 0x28);
    shared.insert(shared.end(), measures.begin(), measures.end());
    std::vector<File> frames;
    for (const std::string& p : spec.frame_positions)
      frames.push_back(group(0x9113, ElementWriter().text(0x20, 0x32, "DS", p).file()));
    set.sequence(0x5200, 0x9229, {shared}).sequence(0x5200, 0x9230, frames);
  }
  File samples;
  for (const int v : spec.samples)
    put(samples, samples.size(), static_cast<std::uint16_t>(v), false);
  if (spec.items.empty())
    set.bytes(0x7fe0, 0x10, "OW", samples);
  else
    set.encapsulated(spec.items);
  File file(128);
  for (const char c : {'D', 'I', 'C', 'M'}) file.push_back(static_cast<std::uint8_t>(c));
  for (const File* part : {&all.file(), &meta.file(), &set.file()})
    file.insert(file.end(), part->begin(), part->end());
  return file;
}

// An oblique plane: both directions have length 1 and are perpendicular.
inline constexpr const char* oblique = "0.8\\0.6\\0\\0\\0\\-1";
inline constexpr std::array<double, 3> row{0.8, 0.6, 0}, column{0, 0, -1}, normal{-0.6, 0.8, 0};

inline std::string position_of(double distance) {
  std::string text;
  constexpr std::array<double, 3> first{-10, 20, 30};
  for (int i = 0; i < 3; ++i)
    text += (i ? "\\" : "") + std::to_string(first[i] + distance * normal[i]);
  return text;
}
inline std::vector<int> samples_of_slice(int slice) {
  std::vector<int> samples;
  for (int i = 0; i < 20; ++i) samples.push_back(100 * slice + 3 * i - 50);
  return samples;
}

class DicomTest : public testing::Test {
 protected:
  void add(const std::string& name, const DicomSpec& spec) const {
    std::filesystem::create_directories(series_);
    write_file(series_ + "/" + name, dicom_file(spec));
  }
  /// Adds slices whose names and instance numbers contradict their positions.
  void add_series(const std::vector<int>& slices, DicomSpec spec = {}) const {
    spec.orientation = oblique;
    for (const int s : slices) {
      spec.uid = spec.series + "." + std::to_string(s + 1);
      spec.instance = std::to_string((s * 7 + 3) % 11);
      spec.position = position_of(2.0 * s);
      spec.samples = samples_of_slice(s);
      add("IM" + std::to_string(spec.samples[0] < 0 ? 9 : (s * 5) % 8) + spec.series, spec);
    }
  }
  std::vector<double> values(const std::string& path, const SourceOptions& options = {}) const {
    const auto source = open_source(path, options);
    std::vector<double> all, slice;
    while (const auto frame = source->read()) {
      source->values_of(*frame, slice);
      all.insert(all.end(), slice.begin(), slice.end());
    }
    return all;
  }
  static std::vector<double> expected(const std::vector<int>& slices, double slope = 1,
                                      double inter = 0) {
    std::vector<double> values;
    for (const int s : slices)
      for (const int v : samples_of_slice(s)) values.push_back(slope * v + inter);
    return values;
  }
  std::string refusal(const std::string& path, const SourceOptions& options = {}) const {
    try {
      (void)values(path, options);
    } catch (const InternalError& error) {
      ADD_FAILURE() << error.what();
    } catch (const Error& error) {
      EXPECT_EQ(std::string_view(error.what()).find('\n'), std::string_view::npos);
      return error.what();
    }
    return "no error";
  }
  void convert(const std::string& to) const { convert(series_, to); }
  void convert(const std::string& from, const std::string& to) const {
    const auto source = open_source(from, {});
    const auto sink = open_sink(to, *source, {});
    while (auto frame = source->read()) sink->write(*std::move(frame));
    sink->finish();
  }

  TemporaryFolder folder;
  const std::string series_ = folder / "series";
};

}  // namespace lull::io::test
