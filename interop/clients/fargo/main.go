// Command fargo-client runs hudl/fargo against a Eureka server: it registers, beats, and prints what the library reads of
// the neighbour. The library has no background tasks and no deltas, so the loop stands here, as its users write it:
// INTEROP_FORMAT=xml reads all applications, INTEROP_FORMAT=json reads by VIP.
package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"sort"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/hudl/fargo"
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

func instance() *fargo.Instance {
	port, err := strconv.Atoi(setting("PORT"))
	if err != nil {
		fail("INTEROP_PORT:", err)
	}
	ins := &fargo.Instance{
		InstanceId:     setting("INSTANCE_ID"),
		HostName:       setting("HOST"),
		App:            setting("APP"),
		IPAddr:         setting("IP"),
		VipAddress:     setting("VIP"),
		Status:         fargo.UP,
		Port:           port,
		PortEnabled:    true,
		CountryId:      1,
		DataCenterInfo: fargo.DataCenterInfo{Name: fargo.MyOwn},
		LeaseInfo:      fargo.LeaseInfo{RenewalIntervalInSecs: 1, DurationInSecs: 60},
	}
	ins.SetMetadataString("interop", setting("APP"))
	return ins
}

// neighbours asks the server through the library; an application or VIP that is not there is an empty list.
func neighbours(conn *fargo.EurekaConnection) ([]*fargo.Instance, error) {
	if conn.UseJson {
		found, err := conn.GetInstancesByVIPAddress(setting("NEIGHBOUR_VIP"), false)
		if code, ok := fargo.HTTPResponseStatusCode(err); ok && code == http.StatusNotFound {
			return nil, nil
		}
		return found, err
	}
	apps, err := conn.GetApps()
	if err != nil {
		return nil, err
	}
	if app, ok := apps[setting("NEIGHBOUR")]; ok {
		return app.Instances, nil
	}
	return nil, nil
}

func view(instances []*fargo.Instance) string {
	all := []seen{}
	for _, ins := range instances {
		color, err := ins.Metadata.GetString("color")
		if err != nil {
			fmt.Fprintln(os.Stderr, "WARN metadata:", err)
		}
		all = append(all, seen{ins.HostName, ins.Port, string(ins.Status), color})
	}
	sort.Slice(all, func(a, b int) bool { return strings.Compare(all[a].Host, all[b].Host) < 0 })
	text, err := json.Marshal(all)
	if err != nil {
		fail("cannot write the view:", err)
	}
	return string(text)
}

// beat registers anew what it made anew: the library reads the instance back after a registration and then no longer
// sends its metadata.
func beat(conn *fargo.EurekaConnection, ins *fargo.Instance) {
	err := conn.HeartBeatInstance(ins)
	if code, ok := fargo.HTTPResponseStatusCode(err); ok && code == http.StatusNotFound {
		err = conn.ReregisterInstance(instance())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "ERROR heartbeat:", err)
	}
}

func main() {
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM)
	conn := fargo.NewConn(strings.TrimSuffix(setting("SERVER_URL"), "/"))
	conn.UseJson = setting("FORMAT") == "json"
	ins := instance()
	if err := conn.RegisterInstance(ins); err != nil {
		fail("register:", err)
	}
	last := ""
	ticker := time.NewTicker(time.Second)
	for {
		select {
		case <-stop:
			if err := conn.DeregisterInstance(ins); err != nil {
				fail("deregister:", err)
			}
			return
		case <-ticker.C:
			beat(&conn, ins)
			found, err := neighbours(&conn)
			if err != nil {
				fmt.Fprintln(os.Stderr, "ERROR fetch:", err)
				continue
			}
			if now := view(found); now != last {
				fmt.Println("@view", now)
				last = now
			}
		}
	}
}
