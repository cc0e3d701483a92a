import type { Figure } from './figure.ts'
import { authShare } from './figures/auth-share.ts'
import { cliHelp, cliRun } from './figures/cli-run.ts'
import { directoryResolve } from './figures/directory-resolve.ts'
import { directoryVerify } from './figures/directory-verify.ts'
import {
  exportMemoryEmbedded,
  exportMemoryPostgres,
  exportOthersEmbedded,
  exportOthersPostgres,
} from './figures/export.ts'
import { idleMemoryEmbedded, idleMemoryPostgres } from './figures/idle-memory.ts'
import { inclusionProof } from './figures/inclusion-proof.ts'
import { kmsEncrypt } from './figures/kms-encrypt.ts'
import { leaseEnd, leaseEndAfterDowntime, leaseEndConnections, leaseEndTogether } from './figures/lease-end.ts'
import { leaseMint, leaseMintAtMany } from './figures/lease-mint.ts'
import { liveDelay, liveMemory, liveResolve } from './figures/live.ts'
import { logSink } from './figures/log-sink.ts'
import { besideHeavyReadsCached, besideHeavyReadsUncached } from './figures/neighbours.ts'
import { policyDecide } from './figures/policy-decide.ts'
import { proxyRoute } from './figures/proxy-route.ts'
import { proxyTunnel } from './figures/proxy-tunnel.ts'
import { redaction } from './figures/redaction.ts'
import { resolveAtOneMillion } from './figures/resolve-at-one-million.ts'
import {
  resolveCached,
  resolveCachedLarge,
  resolveCachedManyConnections,
  resolveCachedManyConnectionsP99,
} from './figures/resolve-cached.ts'
import { resolveUncached } from './figures/resolve-uncached.ts'
import { sealCostOfPut, sealCostOfResolve } from './figures/seal-cost.ts'
import { secretPut } from './figures/secret-put.ts'
import { syncBurst, syncBurstMemory, syncChange, syncRun } from './figures/sync.ts'
import { vaultRelease, vaultReleaseAtOneMillion } from './figures/vault-release.ts'
import { vaultWebhooks } from './figures/vault-webhooks.ts'

// A new figure is a row here, a file in figures/ that measures it, and a row in README.md.

// biome-ignore format: a table
export const figures: Figure[] = [
  { name: 'resolve_cached', unit: 'ratio', required: { min: 0.7 }, needsPostgres: false, measure: resolveCached },
  { name: 'resolve_cached_large', unit: 'ratio', required: { min: 0.8 }, needsPostgres: false, measure: resolveCachedLarge },
  { name: 'resolve_cached_1000_connections', unit: 'ratio', required: { min: 0.75 }, needsPostgres: false, measure: resolveCachedManyConnections },
  { name: 'resolve_cached_1000_connections_p99', unit: 'ratio', required: { max: 2 }, needsPostgres: false, measure: resolveCachedManyConnectionsP99 },
  { name: 'auth_share', unit: 'ratio', required: { min: 0.9 }, needsPostgres: true, measure: authShare },
  { name: 'live_1000_streams_mb', unit: 'MB', required: { max: 40 }, needsPostgres: false, measure: liveMemory },
  { name: 'live_1000_streams_delay_s', unit: 'seconds', required: { max: 2 }, needsPostgres: false, measure: liveDelay },
  { name: 'live_1000_streams_resolve', unit: 'ratio', required: { min: 0.9 }, needsPostgres: false, measure: liveResolve },
  { name: 'resolve_uncached', unit: 'ratio', required: { min: 0.5 }, needsPostgres: true, measure: resolveUncached },
  { name: 'secret_put', unit: 'ratio', required: { min: 0.4 }, needsPostgres: true, measure: secretPut },
  { name: 'lease_mint', unit: 'ratio', required: { min: 0.33 }, needsPostgres: true, measure: leaseMint },
  { name: 'lease_mint_at_2000', unit: 'ratio', required: { max: 1.5 }, needsPostgres: true, measure: leaseMintAtMany },
  { name: 'lease_end_s', unit: 'seconds', required: { max: 5 }, needsPostgres: true, measure: leaseEnd },
  { name: 'lease_end_500_s', unit: 'seconds', required: { max: 60 }, needsPostgres: true, measure: leaseEndTogether },
  { name: 'lease_end_500_connections', unit: 'connections', required: { max: 4 }, needsPostgres: true, measure: leaseEndConnections },
  { name: 'lease_end_after_downtime_s', unit: 'seconds', required: { max: 10 }, needsPostgres: true, measure: leaseEndAfterDowntime },
  { name: 'resolve_at_1M_secrets', unit: 'ratio', required: { min: 0.8 }, needsPostgres: true, measure: resolveAtOneMillion },
  { name: 'cli_run', unit: 'ratio', required: { max: 4.6 }, needsPostgres: false, measure: cliRun },
  { name: 'cli_help_ms', unit: 'ms', required: { max: 150 }, needsPostgres: false, measure: cliHelp },
  { name: 'kms_encrypt', unit: 'ratio', required: { min: 0.5 }, needsPostgres: false, measure: kmsEncrypt },
  { name: 'redaction', unit: 'ratio', required: { min: 0.25 }, needsPostgres: false, measure: redaction },
  { name: 'sync_run', unit: 'requests', required: { max: 0 }, needsPostgres: false, measure: syncRun },
  { name: 'sync_change_s', unit: 'seconds', required: { max: 5 }, needsPostgres: true, measure: syncChange },
  { name: 'sync_burst', unit: 'ratio', required: { min: 0.5 }, needsPostgres: true, measure: syncBurst },
  { name: 'sync_burst_memory_mb', unit: 'MB', required: { max: 100 }, needsPostgres: true, measure: syncBurstMemory },
  { name: 'seal_cost_resolve', unit: 'ratio', required: { max: 0.02 }, needsPostgres: true, measure: sealCostOfResolve },
  { name: 'seal_cost_put', unit: 'ratio', required: { max: 0.1 }, needsPostgres: true, measure: sealCostOfPut },
  { name: 'inclusion_proof_ms', unit: 'ms', required: { max: 20 }, needsPostgres: true, measure: inclusionProof },
  { name: 'log_sink_per_second', unit: 'entries', required: { min: 2000 }, needsPostgres: true, measure: logSink },
  { name: 'export_memory_mb_postgres', unit: 'MB', required: { max: 300 }, needsPostgres: true, measure: exportMemoryPostgres },
  { name: 'export_others_postgres', unit: 'ratio', required: { min: 0.5 }, needsPostgres: true, measure: exportOthersPostgres },
  { name: 'export_memory_mb_embedded', unit: 'MB', required: { max: 300 }, needsPostgres: false, measure: exportMemoryEmbedded },
  { name: 'export_others_embedded', unit: 'ratio', required: { min: 0.5 }, needsPostgres: false, measure: exportOthersEmbedded },
  { name: 'beside_heavy_reads_cached', unit: 'ratio', required: { min: 0.5 }, needsPostgres: true, measure: besideHeavyReadsCached },
  { name: 'beside_heavy_reads_uncached', unit: 'ratio', required: { min: 0.5 }, needsPostgres: true, measure: besideHeavyReadsUncached },
  { name: 'policy_decide', unit: 'µs', required: { max: 50 }, needsPostgres: false, measure: policyDecide },
  { name: 'directory_verify_ms', unit: 'ms', required: { max: 2 }, needsPostgres: false, measure: directoryVerify },
  { name: 'directory_resolve', unit: 'ratio', required: { max: 2 }, needsPostgres: false, measure: directoryResolve },
  { name: 'vault_release', unit: 'ratio', required: { min: 0.5 }, needsPostgres: true, measure: vaultRelease },
  { name: 'vault_release_at_1M_connections', unit: 'ratio', required: { min: 0.8 }, needsPostgres: true, measure: vaultReleaseAtOneMillion },
  { name: 'vault_webhooks_s', unit: 'seconds', required: { max: 60 }, needsPostgres: true, measure: vaultWebhooks },
  { name: 'proxy_route', unit: 'ratio', required: { min: 0.5 }, needsPostgres: false, measure: proxyRoute },
  { name: 'proxy_tunnel', unit: 'ratio', required: { min: 0.5 }, needsPostgres: false, measure: proxyTunnel },
  { name: 'idle_memory_mb_embedded', unit: 'MB', required: { max: 250 }, needsPostgres: false, measure: idleMemoryEmbedded },
  { name: 'idle_memory_mb_postgres', unit: 'MB', required: { max: 130 }, needsPostgres: true, measure: idleMemoryPostgres },
]
