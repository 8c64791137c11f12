#pragma once
#include <memory>

#include "base/random.h"
#include "scheduler/testing/plugin_bed.h"

// Clusters and pods with a bit of everything that placement looks at, for tests that compare two
// ways to one answer and for benchmarks.
namespace koord::scheduler {

std::shared_ptr<const kube::Node> RandomNode(Random& random, int number);
// Not assigned; asks for room, labels, ports, ...
std::shared_ptr<const kube::Pod> RandomPod(Random& random, int number);

// Nodes with pods on them. A few nodes are removed again, so that some rows are not live.
void FillCluster(PluginBed& bed, Random& random, int nodes, int pods_per_node);

// Fails the test unless Filter over all rows keeps exactly those that Check finds nothing against.
void ExpectFilterAgreesWithCheck(FilterPlugin& plugin, const PodQuery& query);
// Fails the test unless the scores of all rows at once are those of each row alone.
void ExpectScoresOfSingleRowsAgree(ScorePlugin& plugin, const PodQuery& query);
// Fails the test unless a row without some of its pods is scored as it is once these are gone.
void ExpectScoreRowAgreesWithScore(ScorePlugin& plugin, const PodQuery& query, PluginBed& bed,
                                   Random& random);

}  // namespace koord::scheduler
