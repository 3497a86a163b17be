// Command prometheus-client runs Prometheus' eureka_sd_config as a library and prints the targets that it makes of the
// neighbour. It only reads: nothing is registered.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"sort"
	"strconv"
	"strings"
	"syscall"
	"time"

	promclient "github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/discovery"
	"github.com/prometheus/prometheus/discovery/eureka"
	"github.com/prometheus/prometheus/discovery/targetgroup"
)

type seen struct {
	Host   string `json:"host"`
	Port   int    `json:"port"`
	Status string `json:"status"`
	Color  string `json:"color"`
}

func setting(name string) string {
	value, ok := os.LookupEnv("INTEROP_" + name)
	if !ok {
		fail("INTEROP_" + name + " is not set; start this program through interop/run")
	}
	return value
}

func fail(words ...any) {
	fmt.Fprintln(os.Stderr, append([]any{"ERROR"}, words...)...)
	os.Exit(1)
}

func label(target model.LabelSet, name string) string {
	return string(target[model.LabelName(model.MetaLabelPrefix+"eureka_"+name)])
}

func view(groups []*targetgroup.Group) string {
	all := []seen{}
	for _, group := range groups {
		for _, target := range group.Targets {
			if label(target, "app_name") != setting("NEIGHBOUR") {
				continue
			}
			port, err := strconv.Atoi(label(target, "app_instance_port"))
			if err != nil {
				fmt.Fprintln(os.Stderr, "WARN port:", err)
			}
			all = append(all, seen{
				Host:   label(target, "app_instance_hostname"),
				Port:   port,
				Status: label(target, "app_instance_status"),
				Color:  label(target, "app_instance_metadata_color"),
			})
		}
	}
	sort.Slice(all, func(a, b int) bool { return all[a].Host < all[b].Host })
	text, err := json.Marshal(all)
	if err != nil {
		fail("cannot write the view:", err)
	}
	return string(text)
}

func main() {
	ctx, cancel := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer cancel()
	config := eureka.DefaultSDConfig
	config.Server = strings.TrimSuffix(setting("SERVER_URL"), "/") // it appends /apps
	config.RefreshInterval = model.Duration(time.Second)
	registry := promclient.NewRegistry()
	metrics := config.NewDiscovererMetrics(registry, discovery.NewRefreshMetrics(registry))
	discoverer, err := config.NewDiscoverer(discovery.DiscovererOptions{
		Logger:  slog.New(slog.NewTextHandler(os.Stderr, nil)),
		Metrics: metrics,
		SetName: "interop",
	})
	if err != nil {
		fail("cannot set up the discovery:", err)
	}
	updates := make(chan []*targetgroup.Group)
	go discoverer.Run(ctx, updates)
	last := ""
	for {
		select {
		case <-ctx.Done():
			return
		case groups := <-updates:
			if now := view(groups); now != last {
				fmt.Println("@view", now)
				last = now
			}
		}
	}
}
