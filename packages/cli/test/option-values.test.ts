import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { exitCodes } from '../src/failure.ts'
import { type Machine, newMachine } from './machine.ts'

let machine: Machine
beforeAll(async () => {
  // Nothing listens there: a wrong command line is refused before anything is sent.
  machine = await newMachine('http://127.0.0.1:1')
  await machine.write('.env', 'A=1\n')
})
afterAll(() => machine.remove())

describe('a wrong value on the command line ends with 2 and names its option:', () => {
  it.each([
    ['branch create pr-7 --env development --ttl soon', "--ttl must be a duration (you gave 'soon')"],
    ['run --max-age 1week -- true', "--max-age must be a duration (you gave '1week')"],
    ['run --watch --interval often -- true', "--interval must be a duration (you gave 'often')"],
    ['run --watch --interval 2d -- true', '--interval 2d'],
    ['run --with shared -- true', '--with must have the form group=environment (you gave shared)'],
    ['run --only , -- true', '--only is empty'],
    ['run --only A --except B -- true', '--only and --except cannot be used together'],
    ['keys unlock --for long', "--for must be a duration (you gave 'long')"],
    ['audit timeline --since yesterday', "--since must be a duration (you gave 'yesterday')"],
    ['audit timeline --until 2026-13-45T00:00:00Z', '--until must be a time'],
    ['audit --action secret.read', 'reads that were allowed are not recorded'],
    ['audit --action secret.viewed', '`skerry audit ls --action env.resolve_denied` shows denied reads'],
    ['audit --action thread.spread', "there is no action 'thread.spread'; write an action like secret.written"],
    ['audit timeline --action gets', "there is no action 'gets'; write an action"],
    ['changes list --limit all', '--limit must be a whole number from 1 to 999'],
    ['rotation create A --env development --every often', "--every must be a duration (you gave 'often')"],
    ['agent review bot --days many', '--days must be a whole number from 1 to 90'],
    ['agent dispatch bot --ttl soon', "--ttl must be a duration (you gave 'soon')"],
    ['kms data-key billing --bytes 0', '--bytes must be a whole number from 1 to 1024'],
    ['secrets set 9A --env development', 'the name of the secret is not valid'],
    ['secrets rm A --env development --expected-version one', '--expected-version'],
    ['compose set shared --env development --position first', '--position'],
    ['trust sign --old-head last', '--old-head must be the version of a head'],
    ['env protect development --approvals none', '--approvals must be a whole number'],
    ['lease create db --name 9x', '--name is not a valid account name'],
    ['lease create db --ttl soon', "--ttl must be a duration (you gave 'soon')"],
    ['changes ls --app shop', '--app alone names no environment'],
    ['app create Shop', "'Shop' is not a valid slug for an application"],
    ['group create Shop', "'Shop' is not a valid slug for a group"],
    ['env create Shop', "'Shop' is not a valid slug for an environment"],
    ['env protect development --env production', 'you named the environment twice; leave out --env'],
    ['branch create pr-7 --env development --from production', 'you named the environment twice; leave out --from'],
    ['branch create Shop', "'Shop' is not a valid slug for a branch"],
    ['agent create Shop', "'Shop' is not a valid slug for the agent"],
    ['agent revoke bot', "'bot' is not the id of a task; see `skerry agent tasks <agent>`"],
    ['audit timeline --since 367d', '--since must be at most 366 days ago (you gave 367d)'],
    ['dashboard verify skerry.example.com', "'skerry.example.com' is not a URL"],
    ['dashboard verify localhost:4700', 'write it as http://localhost:4700'],
    ['kms data-key billing --bytes 1025', '--bytes must be a whole number from 1 to 1024'],
    ['log-sink set collector.example.com', "'collector.example.com' is not a URL"],
    ['log-sink set ftp://collector.example.com', 'write it as https://collector.example.com/v1/logs'],
    ['secrets generate A --env development --length 0', '--length must be a whole number from 1 to 4096'],
    ['recovery setup --threshold many --custodian bob@example.com', '--threshold must be a whole number'],
    ['provisioner --allow db', '--allow must have the form host:port'],
    ['whoami --url ftp://skerry.example.com', 'the server’s address must start with https://'],
    ['whoami --url skerry', "'skerry' is not a URL; write it as https://skerry"],
  ])('%s', async (line, message) => {
    const { code, stdout, stderr } = await machine.skerry(line.split(' '))
    expect([code, stdout, stderr]).toEqual([exitCodes.usage, '', expect.stringContaining(message)])
  })
})

it.each([
  ['app', 'show', ''],
  ['changes', 'approve', 'chg_0000000000000000000000', ''],
  ['secrets', 'import', ''],
])('an empty argument of skerry %s %s is refused by its name', async (...args) => {
  const { code, stderr } = await machine.skerry(args)
  expect([code, stderr]).toEqual([exitCodes.usage, expect.stringMatching(/^skerry: <(app|changes|file)> is empty; /)])
})

it('a message repeats only the beginning of a name that is too long', async () => {
  const { code, stderr } = await machine.skerry(['app', 'create', 'A'.repeat(10_000)])
  expect([code, stderr]).toEqual([
    exitCodes.usage,
    expect.stringContaining(`'${'A'.repeat(40)}… (10000 characters)' is not a valid slug`),
  ])
})
