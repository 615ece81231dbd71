// Converts repair plans to JSON text and back, for jobs.

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "tools/repair/repair_plan.h"
#include "tools/report/json.h"

namespace lull::tools {
namespace {

using repair::ClipDefects;
using repair::DefectiveSample;
using repair::ImpulseKind;
using repair::ImpulseModel;
using repair::LineModel;
using repair::PlaneDefects;

Json json_of(const DefectiveSample& sample) {
  const DefectiveSample always;
  Json json = {sample.x, sample.y};
  if (sample.first != always.first || sample.last != always.last) {
    json.push_back(sample.first);
    json.push_back(sample.last);
  }
  return json;
}

Json json_of(const ImpulseKind& kind) {
  if (!kind.exists) return {};
  if (!kind.has_value) return Json::object();
  return {{"value", kind.value}, {"tolerance", kind.tolerance}};
}

Json json_of(const ImpulseModel& model) {
  return {{"density", model.density},
          {"noise", model.noise},
          {"pepper", json_of(model.pepper)},
          {"salt", json_of(model.salt)}};
}

Json json_of(const LineModel& lines) {
  return {{"deviation", lines.deviation},
          {"reference", lines.reference},
          {"order", lines.smoothing.order},
          {"lambda", lines.smoothing.lambda}};
}

Json json_of(const PlaneDefects& plane) {
  Json json = {{"noise", plane.noise}};
  Json samples = Json::array();
  for (const DefectiveSample& sample : plane.samples) samples.push_back(json_of(sample));
  json["samples"] = samples;
  if (plane.impulses) json["impulses"] = json_of(*plane.impulses);
  if (plane.rows) json["rows"] = json_of(*plane.rows);
  if (plane.columns) json["columns"] = json_of(*plane.columns);
  return json;
}

float number_of(const Json& json) {
  const auto value = json.get<float>();
  if (!std::isfinite(value)) throw BadData("a number is not finite");
  return value;
}

DefectiveSample sample_of(const Json& json, int width, int height) {
  DefectiveSample sample{.x = json.at(0).get<int>(), .y = json.at(1).get<int>()};
  if (sample.x < 0 || sample.y < 0 || sample.x >= width || sample.y >= height)
    throw BadData("a defective pixel is outside of the frame");
  if (json.size() > 2) sample.first = json.at(2), sample.last = json.at(3);
  return sample;
}

ImpulseKind kind_of(const Json& json) {
  if (json.is_null()) return {};
  ImpulseKind kind{.exists = true};
  if (json.empty()) return kind;
  kind.has_value = true;
  kind.value = number_of(json.at("value"));
  kind.tolerance = number_of(json.at("tolerance"));
  return kind;
}

/// @param count  number of rows or columns of the plane
LineModel lines_of(const Json& json, int count) {
  LineModel lines{.deviation = number_of(json.at("deviation")), .reference = {}, .smoothing = {}};
  for (const Json& value : json.at("reference")) lines.reference.push_back(number_of(value));
  lines.smoothing = {json.at("order").get<int>(), number_of(json.at("lambda"))};
  const std::size_t size = lines.reference.size();
  if ((size != 0 && size != static_cast<std::size_t>(count)) || lines.smoothing.order < 1 ||
      lines.smoothing.order > 3 || lines.smoothing.lambda < 0)
    throw BadData("the offsets of lines are not valid");
  return lines;
}

PlaneDefects plane_of(const Json& json, int width, int height) {
  PlaneDefects plane;
  plane.noise = number_of(json.at("noise"));
  for (const Json& sample : json.at("samples"))
    plane.samples.push_back(sample_of(sample, width, height));
  if (json.contains("impulses")) {
    const Json& model = json.at("impulses");
    plane.impulses = ImpulseModel{.density = number_of(model.at("density")),
                                  .noise = number_of(model.at("noise")),
                                  .pepper = kind_of(model.at("pepper")),
                                  .salt = kind_of(model.at("salt"))};
  }
  if (json.contains("rows")) plane.rows = lines_of(json.at("rows"), height);
  if (json.contains("columns")) plane.columns = lines_of(json.at("columns"), width);
  return plane;
}

}  // namespace

std::string to_json(const RepairPlan& plan) {
  Json parities = Json::array();
  for (int parity = 0; parity < (plan.by_fields ? 2 : 1); ++parity) {
    Json planes = Json::array();
    for (const PlaneDefects& plane : plan.defects[parity].planes) planes.push_back(json_of(plane));
    parities.push_back(planes);
  }
  return json_text({{"defects", parities}});
}

RepairPlan parse_repair(const std::string& text, const FrameFormat& format,
                        const std::string& name) {
  const std::optional<Json> json = parse_json(text);
  try {
    if (!json) throw BadData("it is not JSON");
    const Json& parities = json->at("defects");
    RepairPlan plan{.by_fields = parities.size() == 2, .defects = {}};
    if (parities.empty() || parities.size() > 2) throw BadData("it has no defects");
    for (std::size_t parity = 0; parity < parities.size(); ++parity)
      for (int i = 0; i < format.planes(); ++i)
        plan.defects[parity].planes[i] =
            plane_of(parities[parity].at(static_cast<std::size_t>(i)), format.plane_width(i),
                     format.plane_height(i) / static_cast<int>(parities.size()));
    return plan;
  } catch (const std::exception& error) {
    throw BadData("the list of defects in '" + name + "' is damaged (" + error.what() +
                  "); plan the job again");
  }
}

}  // namespace lull::tools
