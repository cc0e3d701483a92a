import { type FakeAnswer, fields, holds, isFlag, isText, mapOf, routedFake } from '../http-fake.ts'
import { platformSamples } from './samples-platforms.ts'

// From the introspection of Railway’s public schema: fields, arguments and input types. Errors come with status 200.

export const connection = platformSamples['app-platform-a']
export const { projectId, environmentId, serviceId } = connection.destination

/** The known operations, with the variables that each must declare, and the check of the values that are sent. */
const operations: Record<string, { declares: string; variables: (json: unknown) => string | null }> = {
  projectToken: { declares: '', variables: fields({}) },
  project: {
    declares: '$project: String!, $environment: String!',
    variables: fields({ project: isText, environment: isText }),
  },
  service: { declares: '$service: String!', variables: fields({ service: isText }) },
  environment: {
    declares: '$environment: String!, $after: String',
    variables: fields({ environment: isText, after: (after) => after === null || isText(after) }),
  },
  variableCollectionUpsert: {
    declares: '$input: VariableCollectionUpsertInput!',
    variables: fields({
      input: holds({
        projectId: isText,
        environmentId: isText,
        'serviceId?': isText,
        variables: mapOf(isText),
        'replace?': isFlag,
        'skipDeploys?': isFlag,
      }),
    }),
  },
  variableDelete: {
    declares: '$input: VariableDeleteInput!',
    variables: fields({
      input: holds({ projectId: isText, environmentId: isText, 'serviceId?': isText, name: isText }),
    }),
  },
}

interface Ask {
  query: string
  variables: Record<string, unknown> & { input: { variables: Record<string, string>; replace?: boolean; name: string } }
}

const operationOf = (json: unknown) => {
  const match = /^(?:query|mutation)(?: \(([^)]*)\))? \{ (\w+)/.exec((json as Ask).query)
  return { declares: match?.[1] ?? '', field: match?.[2] ?? '' }
}

export const failed = (message: string): FakeAnswer => ({ status: 200, body: { errors: [{ message }], data: null } })
const data = (of: object): FakeAnswer => ({ status: 200, body: { data: of } })

export async function railwayFake(
  headers: Record<string, string> = { authorization: `Bearer ${connection.credential}` },
) {
  let variables = new Map<string, { value: string; updatedAt: string }>()
  let changes = 0
  let deploys = 0
  const put = (name: string, value: string) =>
    variables.set(name, { value, updatedAt: new Date(++changes * 1000).toISOString() })

  const page = (after: unknown) => {
    const nodes = [
      { name: 'OF_ANOTHER', serviceId: '99999999-2222-4333-8444-555555555555', updatedAt: '2026-01-01T00:00:00.000Z' },
      { name: 'SHARED', serviceId: null, updatedAt: '2026-01-01T00:00:00.000Z' },
      { name: 'RAILWAY_REGION', serviceId, updatedAt: '2026-01-01T00:00:00.000Z' },
      ...[...variables].map(([name, { updatedAt }]) => ({ name, serviceId, updatedAt })),
    ]
    const start = Number(after ?? 0)
    const edges = nodes.slice(start, start + 100).map((node) => ({ node }))
    return { edges, pageInfo: { hasNextPage: start + 100 < nodes.length, endCursor: String(start + 100) } }
  }

  const server = await routedFake((control) => {
    function run(ask: Ask): FakeAnswer {
      const { input } = ask.variables
      const { field } = operationOf(ask)
      if (field === 'projectToken') return data({ projectToken: { projectId, environmentId } })
      if (field === 'project')
        return data({ project: { id: projectId }, environment: { id: environmentId, projectId } })
      if (field === 'service')
        return ask.variables.service === serviceId
          ? data({ service: { id: serviceId, projectId } })
          : failed('Service not found')
      if (field === 'environment') return data({ environment: { projectId, variables: page(ask.variables.after) } })
      if (field === 'variableDelete') {
        if (!variables.delete(input.name)) return failed('Variable not found')
        deploys++
        return data({ variableDelete: true })
      }
      if (Object.keys(input.variables).some(control.isRefused)) return failed('Problem processing request')
      if (input.replace) variables = new Map()
      for (const [name, value] of Object.entries(input.variables)) put(name, value)
      deploys++
      return data({ variableCollectionUpsert: true })
    }
    return {
      headers,
      refuse(status, words) {
        if (status === 401) return failed('Not Authorized')
        if (status === 404) return failed('Project not found')
        if (status === 429) return { status, headers: { 'retry-after': '3' }, body: { errors: [{ message: words }] } }
        return failed(words)
      },
      routes: [
        {
          method: 'POST',
          path: /^\/graphql\/v2$/,
          writes: (json) => (json as Ask).query.startsWith('mutation'),
          body(json) {
            const problem = fields({ query: isText, variables: () => true })(json)
            if (problem !== null) return problem
            const { declares, field } = operationOf(json)
            const operation = operations[field]
            if (operation?.declares !== declares) return `unknown operation: ${(json as Ask).query}`
            return operation.variables((json as Ask).variables)
          },
          answer: ({ json }) => run(json as Ask),
        },
      ],
    }
  })
  return {
    ...server,
    connection,
    reset() {
      server.reset()
      variables = new Map()
      deploys = 0
    },
    values: () => new Map([...variables].map(([name, { value }]) => [name, value])),
    put,
    deploys: () => deploys,
  }
}
