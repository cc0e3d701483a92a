import { fail } from '../../http/refusal.ts'

type Params = Record<string, unknown>

/**
 * The commands that a program may send to a page, by domain of the DevTools protocol. All others are refused: those
 * about cookies that scripts cannot read, headers and bodies of requests, files of this machine, other targets, the
 * browser itself.
 */
const passed: Readonly<Record<string, ReadonlySet<string>>> = {
  Accessibility: new Set(
    words(
      'enable disable getFullAXTree getPartialAXTree getRootAXNode getChildAXNodes getAXNodeAndAncestors queryAXTree',
    ),
  ),
  DOM: new Set(
    words(`enable disable describeNode discardSearchResults focus getAttributes getBoxModel getContentQuads getDocument
      getFlattenedDocument getFrameOwner getNodeForLocation getOuterHTML getSearchResults performSearch
      pushNodesByBackendIdsToFrontend querySelector querySelectorAll requestChildNodes requestNode resolveNode
      scrollIntoViewIfNeeded`),
  ),
  DOMSnapshot: new Set(words('enable disable captureSnapshot')),
  Emulation: new Set(
    words(`clearDeviceMetricsOverride setDefaultBackgroundColorOverride setDeviceMetricsOverride setEmulatedMedia
      setFocusEmulationEnabled setTouchEmulationEnabled`),
  ),
  Input: new Set(words('dispatchKeyEvent dispatchMouseEvent dispatchTouchEvent imeSetComposition insertText')),
  Log: new Set(words('enable disable')),
  Page: new Set(
    words(`enable disable addScriptToEvaluateOnNewDocument bringToFront captureScreenshot createIsolatedWorld getFrameTree
      getLayoutMetrics getNavigationHistory navigate navigateToHistoryEntry reload removeScriptToEvaluateOnNewDocument
      screencastFrameAck setLifecycleEventsEnabled startScreencast stopLoading stopScreencast`),
  ),
  Runtime: new Set(
    words(`enable disable addBinding awaitPromise callFunctionOn evaluate getProperties releaseObject releaseObjectGroup
      removeBinding runIfWaitingForDebugger`),
  ),
}

/** Commands that libraries send when they connect, but do not need. They are answered and not executed. */
const unheeded = new Set(
  words(`Inspector.enable Network.enable Network.disable Network.setCacheDisabled Page.setFontFamilies Page.setInterceptFileChooserDialog
    Performance.enable Security.enable Security.setIgnoreCertificateErrors ServiceWorker.enable Target.setAutoAttach`),
)

function words(text: string): string[] {
  return text.split(/\s+/)
}

/**
 * Decides how a command to a page is treated.
 *
 * @throws VaultRefusal `not_allowed`.
 */
export function treatment(method: string, params: Params): 'pass' | 'ignore' {
  const [domain = '', name = ''] = method.split('.')
  if (unheeded.has(method)) return 'ignore'
  if (!(Object.hasOwn(passed, domain) && passed[domain]!.has(name)))
    throw fail('not_allowed', `${method} is not allowed`)
  // Without this check, a command could open files of this machine and internal pages of the browser.
  if (method === 'Page.navigate' && !/^(?:https?:\/\/|about:blank$)/i.test(String(params.url)))
    throw fail('not_allowed', 'a page can be opened only at an https:// address')
  return 'pass'
}
