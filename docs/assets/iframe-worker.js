// A browser refuses to start a worker for a page that was opened from disk. The search then runs in a hidden frame, which this
// class lets answer as a worker would.
"use strict";

if (location.protocol === "file:") {
  window.Worker = class FrameWorker extends EventTarget {
    onmessage = null;
    onerror = null;
    #frame = document.createElement("iframe");
    #loaded;

    constructor(address) {
      super();
      this.#frame.hidden = true;
      document.body.append(this.#frame);
      const inside = this.#frame.contentWindow;
      const load = (url) =>
        new Promise((done, failed) => {
          const script = inside.document.createElement("script");
          script.src = new URL(url, document.baseURI);
          script.onload = done;
          script.onerror = () => failed(new Error(`${url} cannot be loaded`));
          inside.document.head.append(script);
        });
      inside.importScripts = async (...urls) => {
        for (const url of urls) await load(url);
      };
      inside.postMessage = (data) => queueMicrotask(() => this.#tell(new MessageEvent("message", { data })));
      this.#loaded = load(address);
      this.#loaded.catch((error) => this.#tell(new ErrorEvent("error", { error, message: error.message })));
    }

    postMessage(data) {
      const inside = this.#frame.contentWindow;
      this.#loaded.then(() => inside.dispatchEvent(new inside.MessageEvent("message", { data })), () => {});
    }

    terminate() {
      this.#frame.remove();
    }

    #tell(event) {
      this.dispatchEvent(event);
      this[`on${event.type}`]?.(event);
    }
  };
}
