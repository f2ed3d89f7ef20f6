#include "common/cluster/address.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "common/base/status_macros.h"

namespace paceline {
namespace {

absl::Status Wrong(absl::string_view message) {
  return absl::InvalidArgumentError(message);
}

bool IsIp(int family, absl::string_view host) {
  // Large enough for both families.
  in6_addr ignored;
  return inet_pton(family, std::string(host).c_str(), &ignored) == 1;
}

// Labels of host names (RFC 1123, section 2.1), plus underscores, which names
// of containers have.
bool IsLabel(absl::string_view label) {
  constexpr size_t kMaxLabel = 63;
  return !label.empty() && label.size() <= kMaxLabel && label.front() != '-' &&
         label.back() != '-' &&
         std::all_of(label.begin(), label.end(), [](char c) {
           return absl::ascii_isalnum(c) || c == '-' || c == '_';
         });
}

absl::Status CheckName(absl::string_view host) {
  constexpr size_t kMaxName = 253;
  // A fully qualified name may end with a dot.
  const absl::string_view name = absl::StripSuffix(host, ".");
  if (name.empty()) return Wrong("the host is empty");
  if (name.size() > kMaxName) return Wrong("the host is too long");
  for (absl::string_view label : absl::StrSplit(name, '.')) {
    if (!IsLabel(label)) return Wrong("not a host name");
  }
  const bool has_numbers_only =
      std::all_of(name.begin(), name.end(),
                  [](char c) { return absl::ascii_isdigit(c) || c == '.'; });
  if (has_numbers_only && !IsIp(AF_INET, name)) {
    return Wrong("not an IPv4 address");
  }
  return absl::OkStatus();
}

absl::StatusOr<int> ParsePort(absl::string_view text) {
  int port = 0;
  if (!std::all_of(text.begin(), text.end(), absl::ascii_isdigit) ||
      !absl::SimpleAtoi(text, &port) || port < 1 || port > 65535) {
    return Wrong("the port must be from 1 to 65535");
  }
  return port;
}

}  // namespace

std::string Address::ToString() const {
  if (absl::StrContains(host, ':')) return absl::StrCat("[", host, "]:", port);
  return absl::StrCat(host, ":", port);
}

absl::StatusOr<Address> ParseAddress(absl::string_view text) {
  if (text != absl::StripAsciiWhitespace(text)) {
    return Wrong("there are spaces around it");
  }
  if (text.empty()) return Wrong("it is empty");
  Address address;
  absl::string_view rest;
  if (text[0] == '[') {
    const size_t end = text.find(']');
    address.host = std::string(text.substr(1, end - 1));
    if (end == absl::string_view::npos || !IsIp(AF_INET6, address.host)) {
      return Wrong("not an IPv6 address in brackets");
    }
    rest = text.substr(end + 1);
  } else {
    if (std::count(text.begin(), text.end(), ':') > 1) {
      return Wrong("more than one colon; IPv6 addresses go in brackets");
    }
    const size_t end = std::min(text.find(':'), text.size());
    address.host = std::string(text.substr(0, end));
    RETURN_IF_ERROR(CheckName(address.host));
    rest = text.substr(end);
  }
  if (rest.empty()) return address;
  if (rest[0] != ':') return Wrong("expected a colon after the bracket");
  ASSIGN_OR_RETURN(address.port, ParsePort(rest.substr(1)));
  address.has_port = true;
  return address;
}

bool IsLoopback(const Address& address) {
  in_addr ipv4{};
  if (inet_pton(AF_INET, address.host.c_str(), &ipv4) == 1) {
    return ntohl(ipv4.s_addr) >> 24 == IN_LOOPBACKNET;
  }
  return address.host == "localhost" || address.host == "::1";
}

std::string WithPort(absl::string_view address, int port) {
  return absl::StrCat(address.substr(0, address.rfind(':')), ":", port);
}

}  // namespace paceline
