#include "tools/command_line/completion.h"

#include <string_view>

#include "tools/options/suggestion.h"

namespace lull::tools {
namespace {

std::string short_name(const ManualCommand& command) {
  return command.name.substr(command.name.rfind(' ') + 1);
}

std::string commands_of(const Manual& manual) {
  std::vector<std::string> names;
  for (const ManualCommand& command : manual.commands) names.push_back(short_name(command));
  return joined(names, " ");
}

std::string options_of(const ManualCommand& command) {
  std::vector<std::string> names;
  for (const ManualOption& option : command.options)
    if (!option.operand()) names.insert(names.end(), option.names.begin(), option.names.end());
  return joined(names, " ");
}

/// Returns how bash completes the value of an option: from a list of words, by file names, or not
/// at all.
std::string bash_value(const ManualOption& option) {
  if (option.value == "FILE") return "files=1";
  const std::vector<std::string> words = choices(option.value);
  return words.empty() ? "" : "words='" + joined(words, " ") + "'";
}

void append_bash_command(std::string& values, std::string& options, const ManualCommand& command) {
  const std::string name = short_name(command);
  std::string operands;
  for (const ManualOption& option : command.options) {
    const std::string value = bash_value(option);
    if (option.operand()) {
      if (operands.empty()) operands = value;
    } else if (!option.value.empty()) {
      std::vector<std::string> patterns;
      for (const std::string& text : option.names) patterns.push_back(name + ":" + text);
      values += "    " + joined(patterns, "|") + ") " + (value.empty() ? ":" : value) + " ;;\n";
    }
  }
  options += "      " + name + ":-*) words='" + options_of(command) + "' ;;\n";
  if (!operands.empty()) options += "      " + name + ":*) " + operands + " ;;\n";
}

/// Escapes a string for use in brackets and single quotes in an argument of zsh's function
/// _arguments.
std::string escape_zsh(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '\'')
      result += "'\\'";
    else if (std::string_view("[]:\\").find(c) != std::string_view::npos)
      result += '\\';
    result += c;
  }
  return result;
}

std::string zsh_action(const ManualOption& option) {
  if (option.value == "FILE") return "_files";
  const std::vector<std::string> words = choices(option.value);
  return words.empty() ? " " : "(" + joined(words, " ") + ")";
}

std::string zsh_argument(const ManualOption& option) {
  const std::string value = ":" +
                            escape_zsh(option.operand() ? option.names.front() : option.value) +
                            ":" + zsh_action(option);
  if (option.operand()) return "'" + value + "'";
  const std::string end =
      "'[" + escape_zsh(option.help) + "]" + (option.value.empty() ? "" : value) + "'";
  if (option.names.size() == 1) return option.names.front() + end;
  return "'(" + joined(option.names, " ") + ")'{" + joined(option.names, ",") + "}" + end;
}

void append_zsh_command(std::string& out, const std::string& pattern,
                        const ManualCommand& command) {
  out += "    " + pattern + ")\n      _arguments";
  for (const ManualOption& option : command.options) out += " \\\n        " + zsh_argument(option);
  out += " ;;\n";
}

}  // namespace

std::string bash_completion(const Manual& manual) {
  std::string values, options;
  for (const ManualCommand& command : manual.commands)
    append_bash_command(values, options, command);
  return "# bash completion of lull, made by: lull completion bash\n"
         "_lull() {\n"
         "  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}\n"
         "  local command=${COMP_WORDS[1]} words= files= value=\n"
         "  # A first word that is not a command is an input of denoise.\n"
         "  [[ ' " +
         commands_of(manual) +
         " ' == *\" $command \"* ]] || command=denoise\n"
         "  COMPREPLY=()\n"
         "  # --option=value comes as three words.\n"
         "  if [[ $cur == = ]]; then\n"
         "    cur= value=1\n"
         "  elif [[ $prev == = && COMP_CWORD -gt 2 ]]; then\n"
         "    prev=${COMP_WORDS[COMP_CWORD-2]}\n"
         "  fi\n"
         "  if (( COMP_CWORD == 1 )); then\n"
         "    words='" +
         commands_of(manual) + " " + options_of(manual.program) +
         "'\n"
         "    mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$cur\"; compgen -f -- \"$cur\")\n"
         "    return\n"
         "  else\n"
         "    case $command:$prev in\n" +
         values +
         "    *)\n"
         "      [[ -n $value ]] && return\n"
         "      case $command:$cur in\n" +
         options +
         "      esac ;;\n"
         "    esac\n"
         "  fi\n"
         "  if [[ -n $files ]]; then\n"
         "    compopt -o filenames 2>/dev/null\n"
         "    mapfile -t COMPREPLY < <(compgen -f -- \"$cur\")\n"
         "  else\n"
         "    mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$cur\")\n"
         "  fi\n"
         "}\n"
         "complete -F _lull lull\n";
}

std::string zsh_completion(const Manual& manual) {
  std::string out =
      "#compdef lull\n"
      "# zsh completion of lull, made by: lull completion zsh\n"
      "_lull() {\n"
      "  local context state state_descr line\n"
      "  typeset -A opt_args\n"
      "  local -a commands=(\n";
  for (const ManualCommand& command : manual.commands)
    out += "    '" + short_name(command) + ":" + escape_zsh(command.summary) + "'\n";
  out += "  )\n  _arguments -C \\\n";
  for (const ManualOption& option : manual.program.options)
    out += "    " + zsh_argument(option) + " \\\n";
  out +=
      "    '1:command:->command' '*::argument:->argument'\n"
      "  case $state in\n"
      "  command) _describe command commands; _files ;;\n"
      "  argument)\n"
      "    case $words[1] in\n";
  for (const ManualCommand& command : manual.commands)
    if (short_name(command) != "denoise") append_zsh_command(out, short_name(command), command);
  // The first word can be the input of `lull denoise` instead of a command.
  for (const ManualCommand& command : manual.commands)
    if (short_name(command) == "denoise") append_zsh_command(out, "*", command);
  return out +
         "    esac ;;\n"
         "  esac\n"
         "}\n"
         "if [[ $funcstack[1] == _lull ]]; then\n"
         "  _lull \"$@\"\n"
         "else\n"
         "  compdef _lull lull\n"
         "fi\n";
}

}  // namespace lull::tools
