import type { Answer, Body } from '@skerry/contract/endpoint'
import type { vaultConnect } from '@skerry/contract/vault/connect'
import { request } from './request.ts'

type Endpoints = typeof vaultConnect
type Name = keyof Endpoints

export type ConnectSession = Answer<Endpoints['session']>['session']
export type ManageSession = Answer<Endpoints['manage']>['session']
export type Connection = ManageSession['connections'][number]
export type Capture = Body<Endpoints['submit']>
type Captured = Answer<Endpoints['submit']>

/** Method and path of each call, checked against the contract, whose schemas this page does not load. */
const calls = {
  claim: ['POST', '/v1/vault/connect/claim'],
  session: ['GET', '/v1/vault/connect/session'],
  consent: ['POST', '/v1/vault/connect/consent'],
  submit: ['POST', '/v1/vault/connect/submit'],
  cancel: ['POST', '/v1/vault/connect/cancel'],
  manage: ['GET', '/v1/vault/connect/manage'],
  revoke: ['POST', '/v1/vault/connect/manage/revoke'],
} as const satisfies { [N in Name]: readonly [Endpoints[N]['method'], Endpoints[N]['path']] }

/** The server's routes for the person who opened a link. Each can throw Refused or Unreachable. */
export interface Server {
  claim(token: string): Promise<Answer<Endpoints['claim']>>
  session(claimToken: string): Promise<ConnectSession>
  consent(claimToken: string, consentVersion: number): Promise<ConnectSession>
  submit(claimToken: string, capture: Capture): Promise<Captured>
  cancel(claimToken: string): Promise<ConnectSession>
  manage(claimToken: string): Promise<ManageSession>
  revoke(claimToken: string, connectionId: string): Promise<ManageSession>
}

export function openServer(origin: string): Server {
  const call = async <N extends Name>(name: N, bearer?: string, body?: object) => {
    const [method, path] = calls[name]
    const sending = { method, ...(body ? { body } : {}), ...(bearer ? { bearer } : {}) }
    return (await request(origin, path, sending)) as Answer<Endpoints[N]>
  }
  return {
    claim: (token) => call('claim', undefined, { token }),
    session: async (claimToken) => (await call('session', claimToken)).session,
    consent: async (claimToken, consentVersion) => (await call('consent', claimToken, { consentVersion })).session,
    submit: (claimToken, capture) => call('submit', claimToken, capture),
    cancel: async (claimToken) => (await call('cancel', claimToken)).session,
    manage: async (claimToken) => (await call('manage', claimToken)).session,
    revoke: async (claimToken, connectionId) => (await call('revoke', claimToken, { connectionId })).session,
  }
}
