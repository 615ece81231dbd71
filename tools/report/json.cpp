#include "tools/report/json.h"

#include <utility>
#include <vector>

namespace lull::tools {
namespace {

/// Receives the parts of a text from the parser, and puts them together.
class JsonBuilder final : public nlohmann::json_sax<Json> {
 public:
  JsonBuilder(Json& root, int most_depth) : root_(root), most_depth_(most_depth) {}

  bool null() override { return add(nullptr); }
  bool boolean(bool value) override { return add(value); }
  bool number_integer(number_integer_t value) override { return add(value); }
  bool number_unsigned(number_unsigned_t value) override { return add(value); }
  bool number_float(number_float_t value, const string_t&) override { return add(value); }
  bool string(string_t& value) override { return add(std::move(value)); }
  bool binary(binary_t&) override { return false; }  // not in a text

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
    std::unique_ptr<JsonMembers> members;  // null: an array
  };

  /// Where the next value belongs.
  Json& place() {
    if (open_.empty()) return root_;
    if (open_.back().members) return *next_;
    return open_.back().json->get_ref<Json::array_t&>().emplace_back();
  }
  template <class Value>
  bool add(Value&& value) {
    place() = std::forward<Value>(value);
    return true;
  }
  bool open(Json empty) {
    if (std::ssize(open_) == most_depth_) return false;
    Json& json = place();
    json = std::move(empty);
    open_.push_back({&json, json.is_object() ? std::make_unique<JsonMembers>(json) : nullptr});
    return true;
  }
  bool close() {
    open_.pop_back();
    return true;
  }

  Json& root_;
  int most_depth_;
  std::vector<Container> open_;  // from the root to the innermost
  Json* next_ = nullptr;         // the member whose name came last
};

}  // namespace

std::string json_lines(const Json& object) {
  std::string text = "{";
  for (const auto& [name, value] : object.items())
    text += (text.size() > 1 ? ",\n  " : "\n  ") + json_text(Json(name)) + ": " + json_text(value);
  return text + "\n}\n";
}

JsonMembers::JsonMembers(Json& object) : members_(&object.get_ref<Json::object_t&>()) {
  for (const auto& [name, value] : *members_) places_.emplace(name, places_.size());
}

Json& JsonMembers::operator[](const std::string& name) {
  const auto [place, is_new] = places_.emplace(name, members_->size());
  if (is_new) members_->emplace_back(name, Json());
  return (*static_cast<Json::object_t::Container*>(members_))[place->second].second;
}

std::optional<Json> parse_json(std::string_view text, int most_depth) {
  Json json;
  JsonBuilder builder(json, most_depth);
  if (!Json::sax_parse(text, &builder)) return std::nullopt;
  return json;
}

}  // namespace lull::tools
