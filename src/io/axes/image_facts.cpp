#include "io/axes/image_facts.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <optional>
#include <utility>

#include "io/axes/ome_axes.h"
#include "io/axes/xml_tags.h"

namespace lull::io {
namespace {

/// The name of a unit in OME-Zarr and its symbol in OME-XML. Several symbols may stand for one
/// name; lull writes the first of these symbols.
struct Unit {
  std::string_view name, ome;
};
constexpr Unit units[] = {
    {"micrometer", "\u00b5m"},
    {"micrometer", "\u03bcm"},
    {"micrometer", "um"},
    {"micrometer", "micron"},
    {"nanometer", "nm"},
    {"millimeter", "mm"},
    {"centimeter", "cm"},
    {"meter", "m"},
    {"decimeter", "dm"},
    {"kilometer", "km"},
    {"angstrom", "\u00c5"},
    {"picometer", "pm"},
    {"femtometer", "fm"},
    {"inch", "in"},
    {"inch", "inch"},
    {"foot", "ft"},
    {"yard", "yd"},
    {"mile", "mi"},
    {"second", "s"},
    {"second", "sec"},
    {"millisecond", "ms"},
    {"microsecond", "\u00b5s"},
    {"nanosecond", "ns"},
    {"picosecond", "ps"},
    {"minute", "min"},
    {"hour", "h"},
    {"day", "d"},
};

std::string unit_named(std::string_view ome) {
  const auto* found = std::ranges::find(units, ome, &Unit::ome);
  return found == std::end(units) ? std::string() : std::string(found->name);
}

std::string_view ome_unit(std::string_view name) {
  const auto* found = std::ranges::find(units, name, &Unit::name);
  return found == std::end(units) ? std::string_view() : found->ome;
}

double positive_number(std::string_view text) {
  double number = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && std::isfinite(number) && number > 0 ? number : 0;
}

/// Returns the value of the line "key=value" in an ImageJ description; empty if there is no such
/// line.
std::string_view line_after(std::string_view text, std::string_view key) {
  const std::size_t at = text.find(key);
  if (at == text.npos) return {};
  text.remove_prefix(at + key.size());
  return text.substr(0, text.find('\n'));
}

/// Returns the unit that a line of an ImageJ description states; `otherwise` if there is no such
/// line.
std::string imagej_unit(std::string_view description, std::string_view key,
                        const std::string& otherwise) {
  const std::string_view unit = line_after(description, key);
  if (unit.empty()) return otherwise;
  return unit_named(unit == "\\u00B5m" ? "um" : unit);
}

ImageFacts facts_of_imagej(std::string_view description, const PixelDensity& density) {
  const std::string unit = imagej_unit(description, "\nunit=", "");
  const std::string unit_y = imagej_unit(description, "\nyunit=", unit);
  ImageFacts facts;
  if (!unit.empty() && density.x > 0) facts.x = {.step = 1 / density.x, .unit = unit};
  const double density_y = density.y > 0 ? density.y : density.x;
  if (!unit_y.empty() && density_y > 0) facts.y = {.step = 1 / density_y, .unit = unit_y};
  std::string_view spacing = line_after(description, "\nspacing=");
  // The sign of the slice distance only states the direction of the slices.
  if (spacing.starts_with('-')) spacing.remove_prefix(1);
  if (const double step = positive_number(spacing); step > 0)
    facts.z = {.step = step, .unit = imagej_unit(description, "\nzunit=", unit)};
  if (const double step = positive_number(line_after(description, "\nfinterval=")); step > 0)
    facts.time = {.step = step, .unit = imagej_unit(description, "\ntunit=", "second")};
  return facts;
}

AxisStep ome_step(const XmlTag& tag, const std::string& size, const std::string& unit,
                  const char* default_unit) {
  const double step = positive_number(tag.attribute(size).value_or(""));
  if (step == 0) return {};
  return {.step = step, .unit = unit_named(tag.attribute(unit).value_or(default_unit))};
}

ImageFacts facts_of_ome(std::string_view description) {
  ImageFacts facts;
  XmlTags tags(description);
  bool has_pixels = false;
  while (const std::optional<XmlTag> tag = tags.next()) {
    if (tag->name == "Image") {
      if (has_pixels) break;  // the next tags belong to another image
      facts.name = tag->attribute("Name").value_or("");
    } else if (tag->name == "Pixels") {
      has_pixels = true;
      facts.x = ome_step(*tag, "PhysicalSizeX", "PhysicalSizeXUnit", "\u00b5m");
      facts.y = ome_step(*tag, "PhysicalSizeY", "PhysicalSizeYUnit", "\u00b5m");
      facts.z = ome_step(*tag, "PhysicalSizeZ", "PhysicalSizeZUnit", "\u00b5m");
      facts.time = ome_step(*tag, "TimeIncrement", "TimeIncrementUnit", "s");
    } else if (tag->name == "Channel" && has_pixels) {
      facts.channels.push_back(tag->attribute("Name").value_or(""));
    }
  }
  const auto is_empty = [](const std::string& name) { return name.empty(); };
  if (std::ranges::all_of(facts.channels, is_empty)) facts.channels.clear();
  return facts;
}

std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    switch (c) {
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '&':
        result += "&amp;";
        break;
      case '"':
        result += "&quot;";
        break;
      default:
        result += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
  }
  return result;
}

std::string attribute(std::string_view name, std::string_view value) {
  return " " + std::string(name) + "=\"" + escaped(value) + "\"";
}

std::string number_text(double number) {
  char text[32];
  const auto [end, error] = std::to_chars(std::begin(text), std::end(text), number);
  return error == std::errc() ? std::string(text, end) : "1";
}

/// Returns whether the distance of the samples along an axis is known. A step of 1 without a unit
/// only counts samples.
bool has_size(const AxisStep& axis) {
  return axis.step > 0 && (axis.step != 1 || !axis.unit.empty());
}

std::string step_attributes(const AxisStep& axis, const std::string& name,
                            std::string_view unit_of_others) {
  const std::string_view known = ome_unit(axis.unit);
  const std::string_view unit = known.empty() ? unit_of_others : known;
  if (!has_size(axis) || unit.empty()) return {};
  return attribute(name, number_text(axis.step)) + attribute(name + "Unit", unit);
}

std::string length_attributes(const AxisStep& axis, const std::string& name) {
  return step_attributes(axis, name, "reference frame");  // OME's name of an unknown unit
}

}  // namespace

ImageFacts read_facts(std::string_view description, const PixelDensity& density) {
  if (description.starts_with("ImageJ=")) return facts_of_imagej(description, density);
  return is_ome_xml(description) ? facts_of_ome(description) : ImageFacts();
}

std::string make_ome_xml(const StackAxes& axes, const OmePixels& pixels, const ImageFacts& facts) {
  const auto number = [](std::string_view name, std::int64_t value) {
    return attribute(name, std::to_string(value));
  };
  std::string text =
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>"
      "<OME xmlns=\"http://www.openmicroscopy.org/Schemas/OME/2016-06\" "
      "xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" "
      "xsi:schemaLocation=\"http://www.openmicroscopy.org/Schemas/OME/2016-06 "
      "http://www.openmicroscopy.org/Schemas/OME/2016-06/ome.xsd\">";
  text += "<Image ID=\"Image:0\"" +
          (facts.name.empty() ? std::string() : attribute("Name", facts.name)) + ">";
  text +=
      "<Pixels ID=\"Pixels:0\" DimensionOrder=\"XYZTC\"" + attribute("Type", pixels.type) +
      number("SizeX", pixels.width) + number("SizeY", pixels.height) +
      number("SizeZ", axes.slices) + number("SizeC", axes.channels) + number("SizeT", axes.times) +
      attribute("BigEndian", pixels.big_endian ? "true" : "false") +
      length_attributes(facts.x, "PhysicalSizeX") + length_attributes(facts.y, "PhysicalSizeY") +
      length_attributes(facts.z, "PhysicalSizeZ") +
      step_attributes(facts.time, "TimeIncrement", /*unit_of_others=*/"") + ">";
  for (std::int64_t i = 0; i < axes.channels; ++i) {
    text += "<Channel" + attribute("ID", "Channel:0:" + std::to_string(i));
    const auto at = static_cast<std::size_t>(i);
    if (at < facts.channels.size() && !facts.channels[at].empty())
      text += attribute("Name", facts.channels[at]);
    text += " SamplesPerPixel=\"1\"/>";
  }
  return text + "<TiffData/></Pixels></Image></OME>";
}

std::vector<std::string> losses_in_ome_xml(const ImageFacts& facts) {
  std::vector<std::string> losses;
  const std::pair<const AxisStep&, const char*> lengths[] = {
      {facts.x, "x"}, {facts.y, "y"}, {facts.z, "z"}};
  for (const auto& [axis, name] : lengths)
    if (axis.step > 0 && !axis.unit.empty() && ome_unit(axis.unit).empty())
      losses.push_back("the unit '" + axis.unit + "' of the axis " + name);
  if (has_size(facts.time) && ome_unit(facts.time.unit).empty())
    losses.emplace_back("the time between time points, whose unit is unknown");
  return losses;
}

}  // namespace lull::io
