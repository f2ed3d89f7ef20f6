// The handshake by which two workers verify that they are connected to the
// expected peer.
//
//   dialer                                          acceptor
//     hello: who, to whom, of which job, nonce ──────>
//     <── its own hello, proof over both hellos
//     proof over both hellos ────────────────────────>
//
// A proof is an HMAC-SHA256 over the side's name and both hellos, with a key
// derived from the job's secret (JobSecret::ProveRing). The nonces prevent a
// replay on another connection, the side's name a reflection to its sender.
// Without a secret the proofs are zeros and are not checked. Integers are
// little-endian.
#ifndef PACELINE_WORKER_COLLECTIVE_HANDSHAKE_H_
#define PACELINE_WORKER_COLLECTIVE_HANDSHAKE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "common/identity/job_identity.h"
#include "common/identity/job_secret.h"
#include "common/identity/mac.h"
#include "common/shared_memory/shared_region.h"

namespace paceline {

// What each end sends about itself.
struct Hello {
  // Ranks of sender and receiver, and the incarnations of their processes.
  uint32_t from = 0;
  uint32_t to = 0;
  uint64_t from_incarnation = 0;
  uint64_t to_incarnation = 0;
  JobIdentity job;
  // The sender's shared memory; process 0: none.
  RegionReference region;
  // A random number for this connection.
  std::array<char, 32> nonce = {};
};

// Size of a hello and of a proof, in bytes.
inline constexpr size_t kHelloSize = 120;
inline constexpr size_t kProofSize = kMacSize;

std::string WriteHello(const Hello& hello);
// InvalidArgument if the bytes have another size, the wrong magic number, or an
// invalid job id. Other numbers are not checked.
absl::StatusOr<Hello> ReadHello(absl::string_view bytes);

enum class RingSide { kDialer, kAcceptor };

// The proof of `side` for a connection on which these hellos were sent.
std::string ProveHellos(const std::optional<JobSecret>& secret, RingSide side,
                        absl::string_view dialers, absl::string_view acceptors);

}  // namespace paceline

#endif  // PACELINE_WORKER_COLLECTIVE_HANDSHAKE_H_
