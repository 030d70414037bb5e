import type { Agent as AgentType, EnvHttpProxyAgent as ProxyAgentType } from 'undici';
import methods from 'undici/lib/api/index.js';
import AnyAgent from 'undici/lib/dispatcher/agent.js';
import AnyDispatcher from 'undici/lib/dispatcher/dispatcher.js';
import AnyProxyAgent from 'undici/lib/dispatcher/env-http-proxy-agent.js';

// The index of undici does the same. It also loads fetch, caches and mocks: 40 ms of a start.
Object.assign(AnyDispatcher.prototype, methods);

export const Agent = AnyAgent as typeof AgentType;
export const EnvHttpProxyAgent = AnyProxyAgent as typeof ProxyAgentType;
