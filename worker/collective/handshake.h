// How two workers of a group find out that each is whom the other expects.
//
//   dialer                                          acceptor
//     hello: who, to whom, of which job, nonce ──────>
//     <── hello of its own, proof over both hellos
//     proof over both hellos ────────────────────────>
//
// A proof is HMAC-SHA256 with a key of the job's secret
// (JobSecret::ProveRing), over the name of its side and both hellos: the nonces
// make it worthless for any other connection, and the name for the other side.
// Without a secret proofs are zeros and not checked. Integers are
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

// What an end of a connection says of itself.
struct Hello {
  // Ranks, and the incarnations of their processes.
  uint32_t from = 0;
  uint32_t to = 0;
  uint64_t from_incarnation = 0;
  uint64_t to_incarnation = 0;
  JobIdentity job;
  // The sender's memory; process 0: it shares none.
  RegionReference region;
  // Drawn for this connection.
  std::array<char, 32> nonce = {};
};

// Bytes of a hello, and of a proof.
inline constexpr size_t kHelloSize = 120;
inline constexpr size_t kProofSize = kMacSize;

std::string WriteHello(const Hello& hello);
// InvalidArgument if the bytes are no hello: of another size, without the
// magic, or with an id that is none. All numbers may be any.
absl::StatusOr<Hello> ReadHello(absl::string_view bytes);

enum class RingSide { kDialer, kAcceptor };

// Of `side`, for a connection on which these hellos were sent.
std::string ProveHellos(const std::optional<JobSecret>& secret, RingSide side,
                        absl::string_view dialers, absl::string_view acceptors);

}  // namespace paceline

#endif  // PACELINE_WORKER_COLLECTIVE_HANDSHAKE_H_
