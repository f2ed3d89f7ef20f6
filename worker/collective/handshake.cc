#include "worker/collective/handshake.h"

#include <cstring>
#include <type_traits>

#include "absl/strings/str_cat.h"
#include "glog/logging.h"

namespace paceline {
namespace {

constexpr char kHandshakeMagic[] = "PACERING";
constexpr size_t kJobIdSize = 16;

// The bytes of a hello in their order. All supported machines are
// little-endian.
struct WireHello {
  std::array<char, 8> magic = {};
  uint32_t from = 0;
  uint32_t to = 0;
  uint64_t from_incarnation = 0;
  uint64_t to_incarnation = 0;
  // All zeros: no job id.
  std::array<char, kJobIdSize> job_id = {};
  uint32_t generation = 0;
  uint32_t reserved = 0;
  uint64_t process = 0;
  uint64_t fd = 0;
  uint64_t device = 0;
  uint64_t inode = 0;
  std::array<char, 32> nonce = {};
};
static_assert(sizeof(WireHello) == kHelloSize);
static_assert(std::is_trivially_copyable_v<WireHello>);

}  // namespace

std::string WriteHello(const Hello& hello) {
  WireHello wire;
  std::memcpy(wire.magic.data(), kHandshakeMagic, wire.magic.size());
  wire.from = hello.from;
  wire.to = hello.to;
  wire.from_incarnation = hello.from_incarnation;
  wire.to_incarnation = hello.to_incarnation;
  CHECK(hello.job.id.empty() || hello.job.id.size() == kJobIdSize);
  std::memcpy(wire.job_id.data(), hello.job.id.data(), hello.job.id.size());
  wire.generation = hello.job.generation;
  wire.process = hello.region.process;
  wire.fd = hello.region.fd;
  wire.device = hello.region.device;
  wire.inode = hello.region.inode;
  wire.nonce = hello.nonce;
  return std::string(reinterpret_cast<const char*>(&wire), sizeof(wire));
}

absl::StatusOr<Hello> ReadHello(absl::string_view bytes) {
  if (bytes.size() != kHelloSize) {
    return absl::InvalidArgumentError(absl::StrCat(
        "a hello of ", bytes.size(), " bytes; expected ", kHelloSize));
  }
  WireHello wire;
  std::memcpy(&wire, bytes.data(), sizeof(wire));
  if (std::memcmp(wire.magic.data(), kHandshakeMagic, wire.magic.size()) != 0) {
    return absl::InvalidArgumentError(
        "it does not start with the magic bytes of a hello");
  }
  Hello hello;
  hello.from = wire.from;
  hello.to = wire.to;
  hello.from_incarnation = wire.from_incarnation;
  hello.to_incarnation = wire.to_incarnation;
  const std::string id(wire.job_id.data(), wire.job_id.size());
  if (id != std::string(kJobIdSize, '\0')) {
    if (!IsJobId(id)) {
      return absl::InvalidArgumentError("its job id is malformed");
    }
    hello.job.id = id;
  }
  hello.job.generation = wire.generation;
  hello.region = {wire.process, wire.fd, wire.device, wire.inode};
  hello.nonce = wire.nonce;
  return hello;
}

std::string ProveHellos(const std::optional<JobSecret>& secret, RingSide side,
                        absl::string_view dialers,
                        absl::string_view acceptors) {
  if (!secret) return std::string(kProofSize, '\0');
  return secret->ProveRing(side == RingSide::kDialer ? "dialer" : "acceptor",
                           absl::StrCat(dialers, acceptors));
}

}  // namespace paceline
