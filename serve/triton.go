package serve

import (
	"context"

	"utvi/serve/oip"
)

// What clients of Triton ask for beyond the protocol: statistics, configurations and the
// index of models. The messages of gRPC are the source; REST has them as JSON.

// dataTypes are the names of datatypes in configurations.
var dataTypes = map[string]oip.DataType{
	"FP64": oip.DataType_TYPE_FP64, "FP32": oip.DataType_TYPE_FP32, "BYTES": oip.DataType_TYPE_STRING, "BOOL": oip.DataType_TYPE_BOOL,
}

// config is the configuration of a model.
func (m *served) config() *oip.ModelConfig {
	out := &oip.ModelConfig{Name: m.Name, Platform: platform, Backend: platform}
	in, outs := signatures(m.now.Load())
	for _, t := range in {
		out.Input = append(out.Input, &oip.ModelInput{Name: t.Name, DataType: dataTypes[t.Datatype], Dims: t.Shape})
	}
	for _, t := range outs {
		out.Output = append(out.Output, &oip.ModelOutput{Name: t.Name, DataType: dataTypes[t.Datatype], Dims: t.Shape})
	}
	return out
}

// statistics counts what a model has done.
func (m *served) statistics() *oip.ModelStatistics {
	f := &m.figures
	out := &oip.ModelStatistics{Name: m.Name, Version: m.Version, LastInference: f.last.Load(), InferenceCount: f.inferences.Load()}
	for i := range f.executions.bins {
		out.ExecutionCount += f.executions.bins[i].Load()
	}
	out.InferenceStats = &oip.InferStatistics{Success: f.good.message(), Fail: f.bad.message()}
	return out
}

func (t *tally) message() *oip.StatisticDuration {
	return &oip.StatisticDuration{Count: t.count.Load(), Ns: t.ns.Load()}
}

// statistics are those of a model and a version; "" stands for all.
func (all *models) statistics(name, version string) (*oip.ModelStatisticsResponse, error) {
	out := &oip.ModelStatisticsResponse{}
	if name != "" {
		if _, err := all.find(name, version); err != nil {
			return nil, err
		}
	}
	all.each(func(m *served) {
		if (name == "" || m.Name == name) && (version == "" || m.Version == version) {
			out.ModelStats = append(out.ModelStats, m.statistics())
		}
	})
	return out, nil
}

// index lists all versions of all models.
func (all *models) index() *oip.RepositoryIndexResponse {
	out := &oip.RepositoryIndexResponse{}
	all.each(func(m *served) {
		out.Models = append(out.Models, &oip.RepositoryIndexResponse_ModelIndex{Name: m.Name, Version: m.Version, State: "READY"})
	})
	return out
}

// ModelConfig tells the configuration of a model.
func (g *service) ModelConfig(_ context.Context, r *oip.ModelConfigRequest) (*oip.ModelConfigResponse, error) {
	m, err := g.s.models.find(r.Name, r.Version)
	if err != nil {
		return nil, statusOf(err)
	}
	return &oip.ModelConfigResponse{Config: m.config()}, nil
}

// ModelStatistics tells what models have done.
func (g *service) ModelStatistics(_ context.Context, r *oip.ModelStatisticsRequest) (*oip.ModelStatisticsResponse, error) {
	out, err := g.s.models.statistics(r.Name, r.Version)
	return out, statusOf(err)
}

// RepositoryIndex lists the models.
func (g *service) RepositoryIndex(_ context.Context, r *oip.RepositoryIndexRequest) (*oip.RepositoryIndexResponse, error) {
	return g.s.models.index(), nil
}

func (c *call) modelConfig() error {
	if err := c.find(); err != nil {
		return err
	}
	config := c.model.config()
	in := []map[string]any{}
	for _, t := range config.Input {
		in = append(in, map[string]any{"name": t.Name, "data_type": t.DataType.String(), "dims": t.Dims})
	}
	out := []map[string]any{}
	for _, t := range config.Output {
		out = append(out, map[string]any{"name": t.Name, "data_type": t.DataType.String(), "dims": t.Dims})
	}
	return c.writeJSON(map[string]any{"name": config.Name, "platform": config.Platform, "backend": config.Backend,
		"max_batch_size": config.MaxBatchSize, "input": in, "output": out})
}

func (c *call) modelStatistics() error {
	out, err := c.s.models.statistics(c.r.PathValue("name"), c.r.PathValue("version"))
	if err != nil {
		return err
	}
	all := []map[string]any{}
	duration := func(d *oip.StatisticDuration) map[string]uint64 {
		return map[string]uint64{"count": d.Count, "ns": d.Ns}
	}
	for _, m := range out.ModelStats {
		all = append(all, map[string]any{"name": m.Name, "version": m.Version, "last_inference": m.LastInference,
			"inference_count": m.InferenceCount, "execution_count": m.ExecutionCount,
			"inference_stats": map[string]any{"success": duration(m.InferenceStats.Success), "fail": duration(m.InferenceStats.Fail)}})
	}
	return c.writeJSON(map[string]any{"model_stats": all})
}

func (c *call) repositoryIndex() error {
	all := []map[string]string{}
	for _, m := range c.s.models.index().Models {
		all = append(all, map[string]string{"name": m.Name, "version": m.Version, "state": m.State, "reason": m.Reason})
	}
	return c.writeJSON(all)
}

// notHere answers for what Triton does and this server does not.
func (c *call) notHere() error {
	return failf(unimplemented, "%.80q is not something that this server does: models are loaded from files that are replaced, there is no shared memory, and traces and logs are set by flags", c.r.URL.Path)
}
