import { SegmentedControl } from '@mantine/core'
import { useState } from 'react'
import { Copy } from '../ui/copy.tsx'
import { snippets } from './snippets.ts'

/** The commands that start a program with its secrets, in the language of the project. */
export function Connect({ app, env, hasRun }: { app: string; env: string; hasRun: boolean }) {
  const [language, setLanguage] = useState(snippets[0]!.language)
  const { text } = snippets.find((one) => one.language === language)!
  const shown = text({ url: location.origin, app, env })
  return (
    <>
      <SegmentedControl
        aria-label="Language"
        data={snippets.map((one) => one.language)}
        value={language}
        onChange={setLanguage}
      />
      <pre className="snippet">{shown}</pre>
      <Copy text={shown} label="Copy the commands" />
      <div className="help" role="status">
        {hasRun
          ? 'A program has read its secrets.'
          : 'Waiting for the first run. The step is ticked when a program reads its secrets.'}
      </div>
    </>
  )
}
