'use strict';

// eureka-js-client: registers, beats and prints what its own copy of the registry says of the neighbour.
// With INTEROP_DELTA=true it fetches deltas after the first full document, and answers by VIP: its list by application
// goes wrong when an instance of several is modified.

const { Eureka } = require('eureka-js-client');

const POLL_MS = 100;

function setting(name) {
  const value = process.env[`INTEROP_${name}`];
  if (value === undefined) {
    throw new Error(`INTEROP_${name} is not set; start this program through interop/run`);
  }
  return value;
}

const useDelta = process.env.INTEROP_DELTA === 'true';

// The library warns at every look-up that finds nothing; these look-ups come ten times a second.
const logger = {
  debug() {},
  info: (...words) => console.error('INFO', ...words),
  warn: (...words) => /Unable to retrieve/.test(words[0]) || console.error('WARN', ...words),
  error: (...words) => console.error('ERROR', ...words),
};

const client = new Eureka({
  logger,
  shouldUseDelta: useDelta,
  eureka: {
    serviceUrls: { default: setting('SERVER_URL').split(',').map((url) => `${url}apps/`) },
    heartbeatInterval: 1000,
    registryFetchInterval: 1000,
    filterUpInstances: false,
  },
  instance: {
    instanceId: setting('INSTANCE_ID'),
    app: setting('APP'),
    hostName: setting('HOST'),
    ipAddr: setting('IP'),
    vipAddress: setting('VIP'),
    port: { $: Number(setting('PORT')), '@enabled': 'true' },
    leaseInfo: { renewalIntervalInSecs: 1, durationInSecs: 60 },
    metadata: { interop: setting('APP') },
    dataCenterInfo: { '@class': 'com.netflix.appinfo.InstanceInfo$DefaultDataCenterInfo', name: 'MyOwn' },
  },
});

function view() {
  const instances = useDelta
    ? client.getInstancesByVipAddress(setting('NEIGHBOUR_VIP'))
    : client.getInstancesByAppId(setting('NEIGHBOUR'));
  return instances
    .map((instance) => ({
      host: instance.hostName,
      port: Number(instance.port.$),
      status: instance.status,
      color: (instance.metadata || {}).color || '',
    }))
    .sort((a, b) => a.host.localeCompare(b.host));
}

let last = '';
function report() {
  const now = JSON.stringify(view());
  if (now !== last) {
    console.log(`@view ${now}`);
    last = now;
  }
}

client.start((error) => {
  if (error) {
    console.error('ERROR start failed', error);
    process.exit(1);
  }
  setInterval(report, POLL_MS);
});

process.on('SIGTERM', () => {
  client.stop((error) => {
    if (error) {
      console.error('ERROR stop failed', error);
    }
    process.exit(error ? 1 : 0);
  });
});
