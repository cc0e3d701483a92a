import { useEffect } from 'preact/hooks'
import { applyAccent, Brand } from './brand.tsx'
import type { Flow, Screen } from './flow.ts'
import { Agree } from './screens/agree.tsx'
import { CaptureScreen } from './screens/capture.tsx'
import { Done, Ended } from './screens/last.tsx'
import { Manage } from './screens/manage.tsx'

interface PageProps {
  screen: Screen
  flow: Flow
  retry: () => void
}

export function Page(props: PageProps) {
  const { screen } = props
  const display = 'session' in screen ? screen.session.display : null
  useEffect(() => applyAccent(display?.accent ?? null), [display?.accent])
  return (
    <>
      {display ? <Brand display={display} /> : null}
      <section aria-busy={screen.at === 'opening'}>{shown(props)}</section>
    </>
  )
}

function shown({ screen, flow, retry }: PageProps) {
  switch (screen.at) {
    case 'opening':
      return <p role="status">One moment…</p>
    case 'agree':
      return <Agree {...screen} flow={flow} />
    case 'capture':
      return <CaptureScreen {...screen} flow={flow} />
    case 'done':
      return <Done {...screen} flow={flow} />
    case 'manage':
      return <Manage {...screen} flow={flow} />
    case 'end':
      return <Ended {...screen} flow={flow} retry={retry} />
  }
}
