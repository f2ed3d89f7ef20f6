#include "worker/collective/blamed_rank.h"

#include <string>

#include "absl/strings/cord.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace paceline {
namespace {

constexpr char kPayload[] = "paceline/blamed-rank";

}  // namespace

absl::Status WithBlamedRank(int rank, absl::Status error) {
  error.ErasePayload(kPayload);
  if (rank >= 0) error.SetPayload(kPayload, absl::Cord(absl::StrCat(rank)));
  return error;
}

int BlamedRank(const absl::Status& error) {
  const absl::optional<absl::Cord> payload = error.GetPayload(kPayload);
  int rank = -1;
  return payload && absl::SimpleAtoi(std::string(*payload), &rank) ? rank : -1;
}

}  // namespace paceline
