import { Checkbox, Input, Stack, TextInput } from '@mantine/core'
import { useRouteContext } from '@tanstack/react-router'
import { useState } from 'react'
import { api } from '../api.ts'
import { useApiForm } from '../form/use-api-form.ts'
import { usePlaintext } from '../keyring.ts'
import { FormDialog } from '../ui/form-dialog.tsx'
import { HeaderFields } from './header-fields.tsx'
import { headerErrors, headersOf, noHeader, type TypedHeader } from './headers.ts'
import { type LogSink, logSinkQuery } from './queries.ts'

/** Creates the log sink, or changes its address or headers. */
export function SetDialog({ sink, onClose }: { sink: LogSink | null; onClose: () => void }) {
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  const [headers, setHeaders, wasCleared] = usePlaintext<TypedHeader[]>([noHeader])
  const [wantsOthers, setWantsOthers] = useState(false)
  // If a refusal has disabled the sink, saving it enables it again.
  const form = useApiForm('logSink', 'set', {
    endpoint: sink?.endpoint ?? '',
    enabled: sink === null || sink.enabled || sink.lastError !== null,
  })
  const known = sink?.headerNames ?? []
  const mustBeOthers = sink !== null && hostOf(form.values.endpoint) !== hostOf(sink.endpoint)
  const areOthers = known.length === 0 || wantsOthers || mustBeOthers
  const set = async (body: { endpoint: string; enabled: boolean }) => {
    const given = areOthers ? { headers: headersOf(headers) } : {}
    await api.logSink.set({ params: { orgId: org.id }, body: { ...body, ...given } })
  }
  const isWrong = areOthers && headerErrors(headers).some((one) => Object.keys(one).length > 0)
  return (
    <FormDialog
      title={sink === null ? 'Set a log sink' : 'Change the log sink'}
      submit={sink === null ? 'Set the log sink' : 'Save'}
      form={form}
      size="lg"
      disabled={isWrong}
      onClose={onClose}
      onSubmit={set}
      stale={[logSinkQuery(org.id)]}
    >
      <TextInput
        label="Address"
        description="The full URL at which your collector accepts OTLP/HTTP logs. Plain HTTP works only for collectors in a private network that the operator of this server has listed."
        placeholder="https://collector.example.com/v1/logs"
        classNames={{ input: 'mono' }}
        autoComplete="off"
        spellCheck={false}
        data-autofocus
        {...form.getInputProps('endpoint')}
      />
      {known.length > 0 && (
        <Checkbox
          label="Replace the headers"
          description={
            mustBeOthers
              ? `A different host does not get the stored headers: ${known.join(', ')}.`
              : `If you do not replace them, these headers stay: ${known.join(', ')}.`
          }
          checked={areOthers}
          disabled={mustBeOthers}
          onChange={(event) => setWantsOthers(event.currentTarget.checked)}
        />
      )}
      {areOthers && (
        <Stack gap={4}>
          <Input.Label>Headers</Input.Label>
          <Input.Description mb={4}>
            Sent with each request, for example a credential. This server can read the values. It stores them encrypted,
            and never shows them again.
          </Input.Description>
          <HeaderFields headers={headers} wasCleared={wasCleared} onChange={setHeaders} />
        </Stack>
      )}
      <Checkbox
        label="Enabled"
        description="While it is disabled, entries wait."
        {...form.getInputProps('enabled', { type: 'checkbox' })}
      />
    </FormDialog>
  )
}

/** Returns the host that the server compares, or undefined if the text is not a URL. */
const hostOf = (endpoint: string): string | undefined => URL.parse(endpoint.trim())?.host
