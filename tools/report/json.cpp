#include "tools/report/json.h"

#include <utility>
#include <vector>

namespace lull::tools {
namespace {

/// Builds a JSON value from the events of the parser.
class JsonBuilder final : public nlohmann::json_sax<Json> {
 public:
  JsonBuilder(Json& root, int max_depth) : root_(root), max_depth_(max_depth) {}

  bool null() override { return add(nullptr); }
  bool boolean(bool value) override { return add(value); }
  bool number_integer(number_integer_t value) override { return add(value); }
  bool number_unsigned(number_unsigned_t value) override { return add(value); }
  bool number_float(number_float_t value, const string_t&) override { return add(value); }
  bool string(string_t& value) override { return add(std::move(value)); }
  // JSON text contains no binary values, so the parser never calls the function `binary`.
  bool binary(binary_t&) override { return false; }

  bool start_object(std::size_t) override { return open(Json::object()); }
  bool key(string_t& name) override {
    next_ = &(*open_.back().members)[name];
    return true;
  }
  bool end_object() override { return close(); }
  bool start_array(std::size_t) override { return open(Json::array()); }
  bool end_array() override { return close(); }

  bool parse_error(std::size_t, const std::string&, const Json::exception&) override {
    return false;
  }

 private:
  struct Container {
    Json* json;
    std::unique_ptr<JsonMembers> members;  // names of an object's members; null: an array
  };

  /// Returns the place for the next value: the root, the next member of the open object, or a new
  /// element of the open array.
  Json& target() {
    if (open_.empty()) return root_;
    if (open_.back().members) return *next_;
    return open_.back().json->get_ref<Json::array_t&>().emplace_back();
  }
  template <class Value>
  bool add(Value&& value) {
    target() = std::forward<Value>(value);
    return true;
  }
  bool open(Json empty) {
    if (std::ssize(open_) == max_depth_) return false;
    Json& json = target();
    json = std::move(empty);
    open_.push_back({&json, json.is_object() ? std::make_unique<JsonMembers>(json) : nullptr});
    return true;
  }
  bool close() {
    open_.pop_back();
    return true;
  }

  Json& root_;
  int max_depth_;
  std::vector<Container> open_;  // from the outermost container to the innermost one
  Json* next_ = nullptr;         // the member whose name key() received last
};

}  // namespace

std::string json_lines(const Json& object) {
  std::string text = "{";
  for (const auto& [name, value] : object.items())
    text += (text.size() > 1 ? ",\n  " : "\n  ") + json_text(Json(name)) + ": " + json_text(value);
  return text + "\n}\n";
}

JsonMembers::JsonMembers(Json& object) : members_(&object.get_ref<Json::object_t&>()) {
  for (const auto& [name, value] : *members_) positions_.emplace(name, positions_.size());
}

Json& JsonMembers::operator[](const std::string& name) {
  const auto [position, is_new] = positions_.emplace(name, members_->size());
  if (is_new) members_->emplace_back(name, Json());
  return (*static_cast<Json::object_t::Container*>(members_))[position->second].second;
}

std::optional<Json> parse_json(std::string_view text, int max_depth) {
  Json json;
  JsonBuilder builder(json, max_depth);
  if (!Json::sax_parse(text, &builder)) return std::nullopt;
  return json;
}

}  // namespace lull::tools
