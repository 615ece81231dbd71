#include "io/dicom/dicom_images.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "core/error.h"

namespace lull::io {
namespace {

using Vector = std::array<double, 3>;

double dot(const Vector& a, const Vector& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
Vector cross(const Vector& a, const Vector& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}
Vector row_direction(const std::array<double, 6>& o) { return {o[0], o[1], o[2]}; }
Vector column_direction(const std::array<double, 6>& o) { return {o[3], o[4], o[5]}; }
/// Converts a vector from DICOM's patient axes (left, posterior, superior) to lull's axes (right,
/// anterior, superior).
Vector as_ras(const Vector& v) { return {-v[0], -v[1], v[2]}; }
Vector times(double factor, const Vector& v) {
  return {factor * v[0], factor * v[1], factor * v[2]};
}

std::string short_number(double value) {
  std::string text = std::to_string(value);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

std::string describe_series(const DicomImage& first, std::size_t files) {
  return first.series_uid + (first.series_number.empty() ? "" : " (number " + first.series_number) +
         (first.series_number.empty() ? " (" : ", ") +
         (first.series_text.empty() ? "" : "'" + first.series_text + "', ") +
         std::to_string(files) + (files == 1 ? " file)" : " files)");
}

/// Sorts the frames of a series along the slice normal. Each frame must have a position.
class SliceSorter {
 public:
  SliceSorter(DicomVolume& volume, const std::string& path) : volume_(volume), path_(path) {}

  void sort() {
    find_orientation();
    add_frames();
    std::ranges::stable_sort(places_, {}, [](const Place& p) {
      return std::tuple(p.distance, p.time, p.instance, p.slice.frame);
    });
    const std::size_t volumes = group_positions();
    check_distances();
    fill(volumes);
  }

 private:
  struct Place {
    double distance;  // in millimetres along the normal
    int time, instance;
    Vector position;
    DicomSlice slice;
  };
  [[noreturn]] void fail(const std::string& what) const {
    throw BadData("'" + path_ + "' " + what);
  }
  const std::string& file_of(const Place& place) const {
    return volume_.images[place.slice.image].path;
  }

  void find_orientation() {
    orientation_ = *volume_.images.front().frames.front().plane.orientation;
    const Vector row = row_direction(orientation_), column = column_direction(orientation_);
    normal_ = cross(row, column);
    const double length = std::sqrt(dot(normal_, normal_));
    if (!(std::abs(dot(row, row) - 1) < 0.01) || !(std::abs(dot(column, column) - 1) < 0.01) ||
        !(length > 0.9))
      fail("has an image orientation that is not a pair of perpendicular directions");
    normal_ = times(1 / length, normal_);
  }

  void add_frames() {
    constexpr double tolerance = 1e-3;  // components of unit vectors
    for (std::size_t i = 0; i < volume_.images.size(); ++i) {
      const DicomImage& image = volume_.images[i];
      for (std::size_t f = 0; f < image.frames.size(); ++f) {
        const DicomFrame& frame = image.frames[f];
        if (!frame.plane.position || !frame.plane.orientation)
          fail("has slices without position ('" + image.path + "')");
        for (std::size_t k = 0; k < 6; ++k)
          if (!(std::abs((*frame.plane.orientation)[k] - orientation_[k]) < tolerance))
            fail("has slices of different orientations ('" + volume_.images.front().path +
                 "' and '" + image.path + "'), so it is not one volume");
        const Vector& position = *frame.plane.position;
        places_.push_back({dot(position, normal_),
                           frame.time,
                           image.instance,
                           position,
                           {i, static_cast<int>(f), frame.slope, frame.inter}});
      }
    }
  }

  /// Groups slices with equal positions along the normal. Each volume has one slice at each
  /// position, so the function returns the size of the groups as the number of volumes.
  std::size_t group_positions() {
    constexpr double same_place = 1e-3;  // millimetres
    for (std::size_t i = 0; i < places_.size(); ++i)
      if (i == 0 || places_[i].distance - places_[i - 1].distance > same_place)
        starts_.push_back(i);
    starts_.push_back(places_.size());
    // Because of rounding errors, slices at the same place may have slightly different positions.
    // The sort by position then leaves these slices in the wrong order, so the function sorts them
    // again, by time and number.
    for (std::size_t s = 0; s + 1 < starts_.size(); ++s)
      std::stable_sort(places_.begin() + static_cast<std::ptrdiff_t>(starts_[s]),
                       places_.begin() + static_cast<std::ptrdiff_t>(starts_[s + 1]),
                       [](const Place& a, const Place& b) {
                         return std::tuple(a.time, a.instance, a.slice.frame) <
                                std::tuple(b.time, b.instance, b.slice.frame);
                       });
    const std::size_t volumes = starts_[1];
    for (std::size_t s = 0; s + 1 < starts_.size(); ++s) {
      const std::size_t count = starts_[s + 1] - starts_[s];
      if (count != volumes)
        fail("has " + std::to_string(count) + " slices at the position of '" +
             file_of(places_[starts_[s]]) + "' and " + std::to_string(volumes) +
             " at the position of '" + file_of(places_[0]) +
             "' (slices are missing, or occur twice)");
      for (std::size_t i = starts_[s] + 1; i < starts_[s + 1]; ++i)
        if (std::tie(places_[i].time, places_[i].instance, places_[i].slice.frame) ==
            std::tie(places_[i - 1].time, places_[i - 1].instance, places_[i - 1].slice.frame))
          fail("has two slices of the same number at one position ('" + file_of(places_[i - 1]) +
               "' and '" + file_of(places_[i]) + "')");
    }
    return volumes;
  }

  /// Throws an error if the distances between neighbouring slices differ, because a slice is then
  /// missing.
  void check_distances() const {
    constexpr double tolerance = 0.1;  // fraction of the median
    std::vector<double> gaps;
    for (std::size_t s = 1; s + 1 < starts_.size(); ++s)
      gaps.push_back(places_[starts_[s]].distance - places_[starts_[s - 1]].distance);
    if (gaps.empty()) return;
    std::vector<double> sorted = gaps;
    const std::size_t middle = (gaps.size() - 1) / 2;  // the lower one of two: slices are missing
    std::ranges::nth_element(sorted, sorted.begin() + static_cast<std::ptrdiff_t>(middle));
    const double median = sorted[middle];
    for (std::size_t s = 0; s < gaps.size(); ++s)
      if (std::abs(gaps[s] - median) > tolerance * median)
        fail("has slices at a distance of " + short_number(gaps[s]) + " mm ('" +
             file_of(places_[starts_[s]]) + "' and '" + file_of(places_[starts_[s + 1]]) +
             "'; others: " + short_number(median) +
             " mm), so slices are missing or the distances are not equal");
  }

  void fill(std::size_t volumes) {
    const std::size_t slices = starts_.size() - 1;
    VolumeGeometry& geometry = volume_.geometry;
    geometry.size[2] = static_cast<std::int64_t>(slices);
    geometry.volumes = static_cast<std::int64_t>(volumes);
    geometry.is_oriented = true;
    const DicomPlane& plane = volume_.images.front().frames.front().plane;
    geometry.directions[0] = as_ras(times(geometry.spacing[0], row_direction(orientation_)));
    geometry.directions[1] = as_ras(times(geometry.spacing[1], column_direction(orientation_)));
    const Place &first = places_.front(), &last = places_[starts_[slices - 1]];
    geometry.origin = as_ras(first.position);
    Vector step = times(plane.thickness > 0 ? plane.thickness : 1, normal_);
    if (slices > 1)
      for (std::size_t k = 0; k < 3; ++k)
        step[k] = (last.position[k] - first.position[k]) / static_cast<double>(slices - 1);
    geometry.directions[2] = as_ras(step);
    geometry.spacing[2] = std::sqrt(dot(step, step));
    if (volumes > 1) geometry.seconds = volume_.images.front().repetition_time / 1000;
    for (std::size_t v = 0; v < volumes; ++v)
      for (std::size_t s = 0; s < slices; ++s)
        volume_.slices.push_back(places_[starts_[s] + v].slice);
  }

  DicomVolume& volume_;
  const std::string& path_;
  std::array<double, 6> orientation_{};
  Vector normal_{};
  std::vector<Place> places_;
  std::vector<std::size_t> starts_;  // index of the first slice at each position, and the end
};

/// Sorts frames without a position by the attribute Instance Number.
void arrange_by_number(DicomVolume& volume, const std::string& path) {
  std::ranges::stable_sort(volume.images, {}, &DicomImage::instance);
  for (std::size_t i = 1; i < volume.images.size(); ++i)
    if (volume.images[i].instance == volume.images[i - 1].instance)
      throw BadData("'" + path + "' has two slices without position and with the same number ('" +
                    volume.images[i - 1].path + "' and '" + volume.images[i].path + "')");
  for (std::size_t i = 0; i < volume.images.size(); ++i)
    for (std::size_t f = 0; f < volume.images[i].frames.size(); ++f) {
      const DicomFrame& frame = volume.images[i].frames[f];
      volume.slices.push_back({i, static_cast<int>(f), frame.slope, frame.inter});
    }
  const double thickness = volume.images.front().frames.front().plane.thickness;
  volume.geometry.spacing[2] = thickness > 0 ? thickness : 1;
  volume.geometry.size[2] = static_cast<std::int64_t>(volume.slices.size());
}

/// Throws an error if images differ in size or sample type, or if an image occurs twice.
void check_images(const std::vector<DicomImage>& images, const std::string& path) {
  std::map<std::string, std::string> files;
  const DicomSampleFormat& first = images.front().format;
  for (const DicomImage& image : images) {
    DicomSampleFormat format = image.format;
    format.frames = first.frames;
    if (format != first)
      throw BadData("'" + path + "' has slices of different sizes or sample types ('" +
                    images.front().path + "' and '" + image.path + "'), so it is not one volume");
    const auto [other, is_new] = files.emplace(image.sop_uid, image.path);
    if (!is_new && !image.sop_uid.empty())
      throw BadData("'" + path + "' contains an image twice ('" + other->second + "' and '" +
                    image.path + "'); remove one of the files");
  }
}

void choose_samples(DicomVolume& volume) {
  const DicomSampleFormat& format = volume.images.front().format;
  const DicomSlice& first = volume.slices.front();
  volume.has_scales = std::ranges::any_of(volume.slices, [&](const DicomSlice& s) {
    return s.slope != first.slope || s.inter != first.inter;
  });
  if (volume.has_scales) {
    volume.samples.type = StoredType::f32;
    return;
  }
  using enum StoredType;
  volume.samples.type = format.bits_allocated == 8    ? (format.is_signed ? i8 : u8)
                        : format.bits_allocated == 16 ? (format.is_signed ? i16 : u16)
                                                      : (format.is_signed ? i32 : u32);
  volume.samples.slope = first.slope;
  volume.samples.inter = first.inter;
}

}  // namespace

void place_frames(std::vector<DicomFrame>& frames, const std::vector<double>& offsets) {
  const DicomPlane first = frames.front().plane;
  const bool is_known = first.position && first.orientation && offsets.size() == frames.size();
  for (std::size_t f = 0; f < frames.size(); ++f) {
    std::optional<Vector>& position = frames[f].plane.position;
    position.reset();
    if (!is_known) continue;
    // `offsets` is the Grid Frame Offset Vector, one element for each frame. If its first element
    // is 0, the elements are distances along the slice normal. Otherwise, they are coordinates
    // along the third axis of the patient.
    const Vector direction = offsets.front() == 0 ? cross(row_direction(*first.orientation),
                                                          column_direction(*first.orientation))
                                                  : Vector{0, 0, 1};
    position = first.position;
    for (std::size_t k = 0; k < 3; ++k)
      (*position)[k] += (offsets[f] - offsets.front()) * direction[k];
  }
}

std::vector<DicomImage> choose_series(std::vector<DicomImage> images, const std::string& path,
                                      const std::string& series) {
  std::map<std::string, std::vector<DicomImage>> all;
  for (DicomImage& image : images) all[image.series_uid].push_back(std::move(image));
  std::string list;
  std::vector<std::vector<DicomImage>*> chosen;
  for (auto& [uid, members] : all) {
    list += (list.empty() ? "" : ", ") + describe_series(members.front(), members.size());
    if (series.empty() || series == uid || series == members.front().series_number)
      chosen.push_back(&members);
  }
  if (chosen.size() == 1) return std::move(*chosen.front());
  if (chosen.empty())
    throw InvalidArgument("the series " + series + " of '" + path +
                          "' (it does not exist; there are: " + list + "); choose another one");
  throw InvalidArgument("'" + path + "' contains " + std::to_string(chosen.size()) +
                        " series: " + list + "; choose one with --series-uid");
}

DicomVolume arrange(std::vector<DicomImage> images, const std::string& path) {
  std::ranges::sort(images, {}, &DicomImage::path);
  check_images(images, path);
  DicomVolume volume;
  volume.images = std::move(images);
  const DicomImage& first = volume.images.front();
  const DicomPlane& plane = first.frames.front().plane;
  volume.geometry.size = {first.format.columns, first.format.rows, 1};
  if (plane.spacing) {
    volume.geometry.spacing[0] = (*plane.spacing)[1];
    volume.geometry.spacing[1] = (*plane.spacing)[0];
  }
  if (plane.position && plane.orientation &&
      (first.frames.size() == 1 || first.frames[1].plane.position))
    SliceSorter(volume, path).sort();
  else
    arrange_by_number(volume, path);
  choose_samples(volume);
  return volume;
}

}  // namespace lull::io
